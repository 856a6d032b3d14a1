import { LIMITS } from '@market/contract/limits'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { makeService } from '../support/services.ts'
import { APP_URL } from '../support/settings.ts'
import { startCatalogServer, startCatalogWorld } from '../x402/catalog-world.ts'

type World = Awaited<ReturnType<typeof startCatalogWorld>>
type Server = World['server']

/** Longer than any test, so that none depends on the speed of the machine. */
const LONG = 3_600_000
const TAG = /^"[\w-]{43}"$/

let world: World
let server: Server
let seller: Awaited<ReturnType<typeof makeOwnedAgent>>
let serial = 0
beforeAll(async () => {
  world = await startCatalogWorld({ sharedReadMs: LONG })
  server = world.server
  seller = await makeOwnedAgent(world.market)
})
afterAll(() => world.stop())

/** A list that no other test reads, with one service. */
async function makeList() {
  const title = `Reading list number ${++serial}`
  const first = await makeService(world.market, seller, { title })
  const path = `/api/services?search=${encodeURIComponent(`number ${serial}`)}`
  const idsOf = async (headers: Record<string, string> = {}, more = '') => {
    const { text } = await server.get(path + more, headers)
    return (JSON.parse(text).data as { id: string }[]).map(({ id }) => id).filter((id) => made.includes(id))
  }
  const made = [first.id]
  return {
    path,
    first: first.id,
    idsOf,
    add: async () => {
      const { id } = await makeService(world.market, seller, { title: `${title} again` })
      made.push(id)
      return id
    },
  }
}

describe('a process keeps reads that are the same for everybody', () => {
  test('two requests with the same input get the same response, whatever parameters are ignored and in whatever order', async () => {
    const { first, idsOf, add } = await makeList()
    expect(await idsOf({}, '&limit=50&sort=newest')).toEqual([first])
    await add()
    for (const more of [
      '&sort=newest&limit=50',
      '&limit=50&sort=newest&utm_source=mail',
      '&x=1&sort=newest&limit=50',
    ])
      expect(await idsOf({}, more)).toEqual([first])
    expect(await idsOf({}, '&limit=49&sort=newest')).toHaveLength(2)
  })

  test.each([
    ['an API key', { authorization: 'Bearer market_unknown' }, ''],
    ['an access token', { authorization: 'Bearer token' }, ''],
    ['an access token in the query', {}, '&idp_access_token=token'],
    [
      'a wallet signature',
      { 'x-market-wallet': 'w', 'x-market-wallet-sig': 's', 'x-market-wallet-sig-ts': '1' },
      '',
    ],
    ['the cookie of a session', { cookie: 'idp-token=token', 'sec-fetch-site': 'same-origin' }, ''],
  ] as [string, Record<string, string>, string][])(
    'a request with %s reads what was just written, and no cache may keep its response',
    async (_, headers, query) => {
      const { path, first, idsOf, add } = await makeList()
      expect(await idsOf()).toEqual([first])
      const second = await add()
      expect((await idsOf(headers, query)).toSorted()).toEqual([first, second].toSorted())
      expect(await idsOf()).toEqual([first])
      const own = (await server.get(path + query, headers)).headers
      expect([own.get('cache-control'), own.get('etag')]).toEqual(['no-store', null])
      expect(own.get('x-request-id')).not.toBeNull()
    },
  )

  test('an error is not kept: what did not exist is found as soon as it exists', async () => {
    const gone = await server.get('/api/services/svc_1_00000000000000000')
    expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store'])
    const { slug } = seller
    const path = `/api/services/by-slug/${slug}/a-service-of-tomorrow`
    expect((await server.get(path)).status).toBe(404)
    await makeService(world.market, seller, { title: 'A service of tomorrow' })
    expect((await server.get(path)).status).toBe(200)
    expect((await server.get('/api/services?limit=0')).headers.get('cache-control')).toBe('no-store')
  })

  test('every request counts against its limit, and only the 429 says so', async () => {
    const from = { 'x-forwarded-for': '198.51.100.201' }
    const { path } = await makeList()
    const replies = await Promise.all(Array.from({ length: LIMITS.read.max }, () => server.get(path, from)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(replies.filter(({ headers }) => headers.has('x-ratelimit-limit'))).toEqual([])
    const { status, headers } = await server.get(path, from)
    expect([status, headers.get('x-ratelimit-remaining'), headers.get('cache-control')]).toEqual([
      429,
      '0',
      'no-store',
    ])
    expect((await server.get(path)).status).toBe(200)
  })
})

describe('shared caches', () => {
  const VARY = 'Origin, Authorization, Cookie, X-Market-Wallet-Sig'
  const namesOf = (headers: Headers) =>
    [...headers.keys()].filter((name) => !['connection', 'date', 'keep-alive'].includes(name))

  test('the response has the same headers for everybody and says for how long it may be kept', async () => {
    const { path } = await makeList()
    const one = await server.get(path, { 'x-forwarded-for': '198.51.100.1' })
    const two = await server.get(path, {
      'x-forwarded-for': '198.51.100.2',
      accept: 'text/html',
      'accept-language': 'de',
    })
    expect(two.text).toBe(one.text)
    expect(namesOf(one.headers).map((name) => [name, two.headers.get(name)])).toEqual(
      namesOf(one.headers).map((name) => [name, one.headers.get(name)]),
    )
    expect(one.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=1')
    expect(one.headers.get('etag')).toMatch(TAG)
    expect(one.headers.get('vary')).toBe(VARY)
    for (const name of [
      'x-request-id',
      'x-market-client-oldest',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'set-cookie',
    ])
      expect([name, one.headers.get(name)]).toEqual([name, null])
  })

  test('CORS: Vary names the origin also when no page asked, and each page gets its own headers', async () => {
    const { path } = await makeList()
    const origins = { none: {}, another: { origin: 'https://page.example' } }
    const [none, another] = await Promise.all(
      Object.values(origins).map((headers) => server.get(path, headers)),
    )
    expect([none?.headers.get('vary'), none?.headers.get('access-control-allow-origin')]).toEqual([
      VARY,
      null,
    ])
    expect([another?.headers.get('vary'), another?.headers.get('access-control-allow-origin')]).toEqual([
      VARY,
      '*',
    ])
    const app = await fetch(`${world.market.url}${path}`, { headers: { origin: APP_URL } })
    expect(app.headers.get('vary')).toBe(VARY)
    expect(app.headers.get('access-control-allow-origin')).toBe(APP_URL)
  })

  test('304 without a body for the tag, also as a weak one, in a list or as *; another tag gets the document', async () => {
    const { path } = await makeList()
    const { headers, text } = await server.get(path)
    const tag = headers.get('etag') ?? ''
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const same = await server.get(path, { 'if-none-match': known })
      expect([known, same.status, same.text]).toEqual([known, 304, ''])
      for (const name of ['etag', 'cache-control', 'vary'])
        expect(same.headers.get(name)).toBe(headers.get(name))
      expect(same.headers.get('x-request-id')).toBeNull()
    }
    const changed = await server.get(path, { 'if-none-match': '"other"' })
    expect([changed.status, changed.text]).toEqual([200, text])
  })

  test('HEAD has the headers of GET and no body; a Range gets the whole document', async () => {
    const { path } = await makeList()
    const { headers, text } = await server.get(path)
    const head = await fetch(`${server.url}${path}`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['etag', 'cache-control', 'vary', 'content-length', 'content-type'])
      expect([name, head.headers.get(name)]).toEqual([name, headers.get(name)])
    const range = await server.get(path, { range: 'bytes=0-9', 'if-range': headers.get('etag') ?? '' })
    expect([range.status, range.text, range.headers.get('content-range')]).toEqual([200, text, null])
    expect((await server.get(path)).text).toBe(text)
  })
})

test('a process that keeps nothing reads each time', async () => {
  const other = await startCatalogServer(world.market, { sharedReadMs: 0 })
  const { path, add } = await makeList()
  const before = await other.get(path)
  const second = await add()
  expect(before.text).not.toContain(second)
  expect((await other.get(path)).text).toContain(second)
  await other.stop()
})
