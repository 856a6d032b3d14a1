import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { startOrigin } from '@market/dev/web'
import { networksOf, SHARES } from '@market/handlers/networks'
import { clientAddress } from '@market/http/client-address'
import type { RenderPage } from '@market/web/page'
import { buildServer } from '@market/web/server'
import { subjectsOf } from '@market/web/visitor-counts'
import { expect, test } from 'vitest'

/** The server of the pages: what is stored, shared and logged. */

const CONFIG = {
  ...{ host: '127.0.0.1', port: 0, apiUrl: 'http://127.0.0.1:1', site: 'https://market.example' },
  ...{ filesUrl: undefined, solanaNode: undefined, operator: {}, trustedProxies: ['127.0.0.1'] },
}
const ASSETS = { script: '/a.js', styles: [], modules: [], fonts: [] }
const OK = { status: 200, html: 'page', isComplete: true }

const FRESH_MS = 30_000

function serverOf(draw: (path: string, count: number) => Promise<typeof OK>) {
  const paths: string[] = []
  const lines: string[] = []
  const render: RenderPage = ({ path }) => draw(path, paths.push(path))
  const log = { write: (line: string) => void lines.push(line) }
  let time = 0
  const parts = { render, assets: ASSETS, files: new Map(), freshMs: FRESH_MS, now: () => time, log }
  const server = buildServer(CONFIG, parts)
  return {
    ...{ server, paths, lines },
    get: (url: string, from = '203.0.113.1') => server.inject({ url, headers: { 'x-forwarded-for': from } }),
    advance: (ms: number) => {
      time += ms
    },
  }
}

const SECRET = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

test('a visitor who waited for a failed draw draws again, and only the good page is shared', async () => {
  const { get, paths } = serverOf(async (_path, count) => (count === 1 ? { ...OK, status: 503 } : OK))
  const both = await Promise.all([get('/fees'), get('/fees')])
  expect(both.map(({ statusCode }) => statusCode)).toEqual([503, 200])
  expect((await get('/fees')).statusCode).toBe(200)
  expect(paths).toHaveLength(2)
})

test('an old page is sent when the new one cannot be drawn', async () => {
  const { get, paths, advance } = serverOf(async (_path, count) =>
    count === 1 ? OK : { ...OK, status: 503 },
  )
  await get('/fees')
  advance(FRESH_MS + 1)
  expect((await get('/fees')).statusCode).toBe(200)
  expect(paths).toHaveLength(2)
  advance(4 * FRESH_MS)
  expect((await get('/fees')).statusCode).toBe(503)
})

test('an incomplete page is not stored', async () => {
  const { get, paths } = serverOf(async () => ({ ...OK, isComplete: false }))
  expect((await get('/fees')).headers['cache-control']).toBe('no-store')
  await get('/fees')
  expect(paths).toHaveLength(2)
})

test.each(['/o/ord_1?t=token', '/O/ord_1?t=token', '/%6f/ord_1?t=token', '/fees?t=token'])(
  '%s is not stored by anyone',
  async (url) => {
    const { get, paths } = serverOf(async () => OK)
    expect((await get(url)).headers).toMatchObject(SECRET)
    await get(url)
    expect(paths).toHaveLength(2)
  },
)

test('an error while drawing: neither response nor log has the token', async () => {
  const { get, lines } = serverOf(async (path) => Promise.reject(new Error(path)))
  const response = await get('/o/ord_1?t=token-of-it')
  expect(response.headers).toMatchObject({ ...SECRET, 'x-content-type-options': 'nosniff' })
  expect(lines).toHaveLength(1)
  expect(response.body + lines.join('')).not.toContain('token-of-it')
})

test('a page is compressed for those who accept it, and a page with a token for nobody', async () => {
  const { server } = serverOf(async () => OK)
  const encodingOf = async (url: string, accepted: string) => {
    const { headers, rawPayload } = await server.inject({ url, headers: { 'accept-encoding': accepted } })
    const isGzip = headers['content-encoding'] === 'gzip'
    expect(String(isGzip ? gunzipSync(rawPayload) : rawPayload)).toBe(OK.html)
    expect(headers.vary).toBe('accept-encoding')
    return isGzip
  }
  expect(await encodingOf('/fees', 'br, gzip')).toBe(true)
  for (const accepted of ['', 'br', 'gzip;q=0', 'gzipped'])
    expect(await encodingOf('/fees', accepted)).toBe(false)
  expect(await encodingOf('/o/ord_1?t=token', 'gzip')).toBe(false)
})

test('unknown parameters and addresses without a page do not fill the store', async () => {
  const { get, paths } = serverOf(async () => OK)
  for (const url of ['/terms', '/terms?x=1', '/none', '/none/2?y=1', '/agents?cursor=b&search=a&x=1'])
    await get(url)
  expect(paths).toEqual(['/terms', '/no-page', '/agents?search=a&cursor=b'])
})

test('64 pages are drawn at once, and 8 of one address', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<typeof OK>()
  const { get, paths } = serverOf(() => released)
  const addresses = Array.from({ length: 9 }, (_, number) => `203.0.113.${number + 1}`)
  const all = Promise.all(
    addresses.flatMap((address) =>
      Array.from({ length: 9 }, (_, page) => get(`/a/${address}-${page}`, address)),
    ),
  )
  await expect.poll(() => paths.length).toBe(64)
  release(OK)
  const statuses = (await all).map(({ statusCode }) => statusCode)
  expect(statuses.filter((status) => status === 200)).toHaveLength(64)
  // The ninth of each address, and all of the ninth address.
  expect(statuses.filter((status) => status === 503)).toHaveLength(17)
  expect((await get('/fees')).statusCode).toBe(200)
})

test('a visitor on IPv6: the server draws 8 at once for all addresses of a /64, and 32 for those of a /56', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<typeof OK>()
  const { get, paths } = serverOf(() => released)
  const sendFrom = (addresses: readonly string[]) =>
    addresses.map((address) => get(`/a/${paths.length}-${address.replace(/\W/g, '-')}`, address))
  const own = sendFrom(Array.from({ length: 9 }, (_, host) => `2001:db8:1:200::${host + 1}`))
  await expect.poll(() => paths.length).toBe(8)
  const neighbours = sendFrom(
    Array.from({ length: 25 }, (_, network) => `[2001:db8:1:2${(network + 16).toString(16)}::1]:4711`),
  )
  await expect.poll(() => paths.length).toBe(32)
  const other = sendFrom(['2001:db8:1:300::1', '::ffff:203.0.113.1'])
  await expect.poll(() => paths.length).toBe(34)
  release(OK)
  const rejected = async (responses: typeof own) =>
    (await Promise.all(responses)).filter(({ statusCode }) => statusCode === 503).length
  expect([await rejected(own), await rejected(neighbours), await rejected(other)]).toEqual([1, 1, 0])
})

test.each([
  '203.0.113.7',
  '203.0.113.7:4711',
  '::ffff:203.0.113.7',
  '2001:db8::1',
  '2001:DB8:1:2:3:4:5:6',
  '[2001:db8:1:2ff::7]:4711',
  'fe80::1%eth0',
])('%s counts for the same networks as in the API', (hop) => {
  const address = clientAddress(['127.0.0.1'])('127.0.0.1', hop)
  expect(subjectsOf(hop).map(({ name }) => name)).toEqual(networksOf(address).map(({ subject }) => subject))
  expect(subjectsOf(hop).map(({ times }) => times)).toEqual(
    networksOf(address).map(({ kind }) => SHARES.address[kind]),
  )
})

test.each([
  ['/agents/', '/agents'],
  ['/s/one/two///?x=1', '/s/one/two?x=1'],
  ['/nothing/', '/nothing'],
])('%s leads to the address without slashes at its end', async (url, address) => {
  const { get, paths } = serverOf(async () => OK)
  const { statusCode, headers } = await get(url)
  expect([statusCode, headers.location]).toEqual([308, address])
  expect(paths).toEqual([])
})

test.each(['//evil.example/', '/\\\\evil.example/', '///'])('%s leads nowhere', async (url) => {
  const { get } = serverOf(async () => OK)
  expect((await get(url)).headers.location).toBeUndefined()
})

test('a redirect of an address with a token is not stored by anyone', async () => {
  const { get } = serverOf(async () => OK)
  const { statusCode, headers } = await get('/o/ord_1/?t=token')
  expect(statusCode).toBe(308)
  expect(headers).toMatchObject({ ...SECRET, location: '/o/ord_1?t=token' })
})

test.each([
  '/',
  '/nowhere',
  '/healthz',
  '/robots.txt',
  '/sitemap.xml',
  '/o/ord_1?t=token',
  `/${'x'.repeat(1_001)}`,
  '/%zz',
])('%s: has the security headers of every page (asvs V3.1)', async (url) => {
  const { headers } = await serverOf(async () => OK).get(url)
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/,
    ),
    'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
    'x-content-type-options': 'nosniff',
    'referrer-policy': expect.any(String),
    'cross-origin-opener-policy': 'same-origin',
  })
})

test('the origin of the local stack sends a path that names a host nowhere', async () => {
  const origin = await startOrigin({ port: 0, apiUrl: CONFIG.apiUrl, pagesUrl: CONFIG.apiUrl })
  const status = await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin.url)
    const sent = request({ hostname, port, path: '//evil.example/x' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
  origin.stop()
  expect(status).toBe(400)
})
