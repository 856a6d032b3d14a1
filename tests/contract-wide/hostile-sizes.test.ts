import { maxBytes } from '@market/contract/define'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post, toolCall } from '../mcp/raw-messages.ts'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { makeBounty } from '../support/bounties.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { makeOrderIn } from '../support/order-in-state.ts'
import { makeService, SERVICE } from '../support/services.ts'
import { LARGEST, LARGEST_PAGE, LARGEST_RESULT, LARGEST_SERVICE_PATH, largestResult } from './size-bounds.ts'

/** Agents, services and others of the largest legal size, and what the API makes of them. */

const KB = 1024
/** Four bytes of UTF-8, two units of UTF-16. */
const WIDE = '🎨'

const urlOf = (bytes: number): string => `https://hooks.example/${'x'.repeat(bytes - 22)}`

const LARGE_AGENT = {
  description: WIDE.repeat(500),
  ai_models: Array.from({ length: 10 }, (_, n) => `${n}${WIDE.repeat(29)}`),
  avatar_url: urlOf(2_048),
}

const LARGE_TEXTS = {
  title: WIDE.repeat(80),
  description: WIDE.repeat(1_000),
  demo_url: urlOf(2_048),
  deliverables: Array.from({ length: 10 }, () => WIDE.repeat(120)),
}

/** A service whose fields are `bytes` of JSON. */
function serviceOf(bytes: number) {
  const withOptions = (...sizes: number[]) => ({
    ...{ ...SERVICE, ...LARGE_TEXTS, turnaround_hours: 48, quota_limit: 0, max_revisions: 3 },
    requirement_fields: sizes.map((size, at) => ({
      label: `Field ${at}`,
      type: 'select',
      required: false,
      options: Array.from({ length: 30 }, (_, n) => `${n}`.padEnd(size, 'x')),
    })),
  })
  const sizeOf = (service: unknown) => Buffer.byteLength(JSON.stringify(service))
  const missing = bytes - sizeOf(withOptions(2, 2))
  const whole = Math.floor(missing / 30)
  const service = withOptions(Math.min(80, 2 + whole), 2 + Math.max(0, whole - 78))
  const rest = bytes - sizeOf(service)
  const placeholder = ',"placeholder":""'.length
  if (rest <= placeholder) return withLongerOption(service, rest)
  service.requirement_fields[0] = Object.assign({}, service.requirement_fields[0], {
    placeholder: 'x'.repeat(rest - placeholder),
  })
  return service
}

const withLongerOption = <T extends { requirement_fields: { options: string[] }[] }>(
  service: T,
  more: number,
) => {
  const options = service.requirement_fields[1]?.options ?? []
  options[29] = `${options[29]}${'y'.repeat(more)}`
  return service
}

const LARGE_BOUNTY = {
  title: WIDE.repeat(100),
  brief: WIDE.repeat(2_000),
  reference_urls: Array.from({ length: 5 }, () => urlOf(1_900)),
  reference_images: Array.from({ length: 3 }, () => urlOf(1_900)),
}

/** Text with the characters that grow most in JSON and in results of tools. */
const LARGE_ITEM = {
  type: 'text',
  content: '<'.repeat(12_000),
  url: urlOf(2_048),
  media_type: `${'a'.repeat(20)}/${'b'.repeat(100)}`,
  sha256: 'a'.repeat(64),
  title: WIDE.repeat(200),
}

const COPIES = 220

let world: OrderWorld
let seller: Awaited<ReturnType<typeof makeOwnedAgent>>
let serviceId: string
let orderId: string
let bountyId: string
let headers: Record<string, string>
beforeAll(async () => {
  world = await startOrderWorld()
  const { market } = world
  seller = await makeOwnedAgent(market, LARGE_AGENT)
  for (let n = 0; n < 11; n++) await makeOwnedAgent(market, LARGE_AGENT)
  const service = await makeService(market, seller, serviceOf(16 * KB))
  serviceId = service.id
  for (let n = 0; n < 12; n++) bountyId = (await makeBounty(market, LARGE_BOUNTY)).id
  const order = await makeOrderIn(market, service, 'completed')
  orderId = order.id
  headers = order.headers
  await market.db
    .insertInto('order_deliveries')
    .values(
      Array.from({ length: 20 }, (_, n) => ({
        order_id: orderId,
        n: n + 1,
        note: WIDE.repeat(2_000),
        items: JSON.stringify(Array.from({ length: 20 }, () => LARGE_ITEM)),
        at: new Date(market.now()),
      })),
    )
    .execute()
  const review = { rating: 5, comment: WIDE.repeat(500) }
  await market
    .client()
    .post(`/api/orders/${orderId}/review`, review, { headers: await order.sign(`orders.review:${orderId}`) })
  // Copies of one service cost a hostile seller nothing but time: the limit is 20 an hour for each address.
  await sql`
    insert into listings (
      id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours, deliverables,
      demo_url, quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at
    )
    select 'svc_1700000000000_0' || lpad(n::text, 16, '0'), agent_id, 'copy-' || n, category, title, description,
      price_type, price_micros, turnaround_hours, deliverables, demo_url, quota_limit, max_revisions,
      requirement_fields, active, marketable, created_at, updated_at
    from listings cross join generate_series(1, ${COPIES}) as n where id = ${serviceId}`.execute(market.db)
})
afterAll(() => world.stop())

const read = async (path: string, ask: Record<string, string> = {}) => {
  const response = await fetch(`${world.market.url}${path}`, { headers: ask })
  const text = await response.text()
  return { status: response.status, bytes: Buffer.byteLength(text), text, headers: response.headers }
}

describe('a service as a whole', () => {
  const create = (bytes: number) =>
    world.market
      .client()
      .post(`/api/agents/${seller.id}/services`, serviceOf(bytes), { bearer: seller.apiKey })

  test('may have 16 KB of JSON; one byte more is 400 with the size and the limit (asvs V2.1)', async () => {
    const { status, body } = await create(16 * KB + 1)
    expect([status, body.error]).toEqual([400, expect.stringMatching(/16385 bytes.*at most 16384/)])
    expect((await create(16 * KB)).status).toBe(201)
  })

  test('an update that makes it larger is 400, and deactivating one that is too large works', async () => {
    const client = world.market.client()
    const [path, ask] = [`/api/services/${serviceId}`, { bearer: seller.apiKey }]
    const larger = await client.patch(path, { max_revisions: 10 }, ask)
    expect([larger.status, larger.body.error]).toEqual([400, expect.stringMatching(/16385 bytes/)])
    const large = `svc_1700000000000_0${String(COPIES).padStart(16, '0')}`
    const options = Array.from({ length: 30 }, (_, n) => `${n}${WIDE.repeat(78)}`)
    const field = (_: unknown, n: number) => ({
      label: `Field ${n}`,
      type: 'select',
      required: false,
      options,
    })
    await world.market.db
      .updateTable('listings')
      .set({ requirement_fields: JSON.stringify(Array.from({ length: 12 }, field)) })
      .where('id', '=', large)
      .execute()
    expect((await client.send('DELETE', `/api/services/${large}`, ask)).status).toBe(200)
    expect((await client.patch(`/api/services/${large}`, { active: true }, ask)).status).toBe(400)
  })
})

test('a bounty above 24 KB of JSON is 400 with the size and the limit', async () => {
  const reference_urls = Array.from({ length: 5 }, () => urlOf(2_048))
  await expect(
    makeBounty(world.market, { ...LARGE_BOUNTY, reference_urls, reference_images: reference_urls.slice(2) }),
  ).rejects.toThrow(/24\d{3} bytes.*at most 24576/)
})

test('a URL counts bytes: 2,048 is accepted, and 1,024 characters of 4 bytes are 400', async () => {
  const { status, body } = await world.market
    .client()
    .patch(
      '/api/agents/me',
      { avatar_url: `https://hooks.example/${WIDE.repeat(1_024)}` },
      { bearer: seller.apiKey },
    )
  expect([status, body.details]).toEqual([
    400,
    [{ path: 'avatar_url', message: expect.stringMatching(/2048 bytes/) }],
  ])
})

/** Every list of others with the largest limit, and the schema of its items. */
const LISTS: readonly (readonly [path: () => string, item: string])[] = [
  [() => '/api/agents?limit=100', 'Agent'],
  [() => '/api/agents?search=agent&limit=100', 'Agent'],
  [() => '/api/agents/featured?limit=50', 'Agent'],
  [() => '/api/services?limit=100', 'FoundService'],
  [() => `/api/services?search=${encodeURIComponent('x')}&explain=true&limit=100`, 'FoundService'],
  [() => `/api/agents/${seller.id}/services?limit=100`, 'ServiceSummary'],
  [() => `/api/agents/${seller.id}/portfolio?limit=20`, 'PortfolioEntry'],
  [() => `/api/agents/${seller.id}/reviews?limit=100`, 'Review'],
  [() => '/api/bounties?limit=100', 'BountySummary'],
  [() => '/api/x402/services?limit=200', 'PayableService'],
  [() => '/api/x402/trending?limit=50', 'TrendingService'],
  [() => '/api/metrics/activity?limit=100', 'ActivityItem'],
  [() => '/api/agents/leaderboard?limit=100', 'Leader'],
]

test.each(LISTS)('%o: is at most 1.1 MB, and no %s is larger than stated (asvs V4.4)', async (path, item) => {
  const { status, bytes, text } = await read(path())
  expect([status, path()]).toEqual([200, path()])
  expect(bytes).toBeLessThanOrEqual(LARGEST_PAGE)
  const { data } = JSON.parse(text) as { data: Record<string, unknown>[] }
  for (const one of data) {
    expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThanOrEqual(maxBytes.get(item) ?? 0)
    expect(one).not.toHaveProperty('requirement_fields')
    expect(one).not.toHaveProperty('reference_urls')
  }
})

test('x402 services and own services: a page that ends at 1 MB is continued without a gap', async () => {
  for (const [path, ask, isCut] of [
    ['/api/x402/services?limit=200', {}, false],
    [`/api/agents/${seller.id}/services?limit=100`, { authorization: `Bearer ${seller.apiKey}` }, true],
  ] as const) {
    const ids: string[] = []
    let cursor: string | null = ''
    let first = 0
    while (cursor !== null) {
      const page = await read(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`, ask)
      expect(page.bytes).toBeLessThanOrEqual(LARGEST_PAGE)
      const { data, next_cursor } = JSON.parse(page.text)
      first ||= data.length
      ids.push(...data.map(({ id }: { id: string }) => id))
      cursor = next_cursor
    }
    if (isCut) expect(first).toBeLessThan(100)
    expect(new Set(ids).size).toBe(ids.length)
    const { count } = await world.market.db
      .selectFrom('listings')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('agent_id', '=', seller.id)
      .$if(!isCut, (query) => query.where('active', '=', true))
      .executeTakeFirstOrThrow()
    expect(ids.length).toBe(Number(count))
  }
})

test('single reads are not larger than stated', async () => {
  for (const [path, id, ask] of [
    [`/api/agents/${seller.id}`, 'getAgent', {}],
    [`/api/services/${serviceId}`, 'getService', {}],
    [`/api/bounties/${bountyId}`, 'getBounty', {}],
    [`/api/orders/${orderId}`, 'getOrder', headers],
  ] as const) {
    const { status, bytes } = await read(path, ask)
    expect([id, status]).toEqual([id, 200])
    expect(bytes).toBeLessThanOrEqual(LARGEST[id] ?? 0)
  }
})

test('an order shows its newest deliveries, up to half a page', async () => {
  const { data } = JSON.parse((await read(`/api/orders/${orderId}`, headers)).text)
  expect(Buffer.byteLength(JSON.stringify(data.deliveries))).toBeLessThanOrEqual(512 * KB)
  expect(data.deliveries.at(-1).n).toBe(20)
  expect(data.deliveries.length).toBeGreaterThan(0)
  expect(data.deliverables).toEqual(data.deliveries.at(-1).deliverables)
})

const listTools: readonly (readonly [name: string, args: () => Record<string, unknown>])[] = [
  ['market_search_agents', () => ({ limit: 50 })],
  ['market_list_services', () => ({ limit: 100 })],
  ['market_browse_agents', () => ({ limit: 100 })],
  ['market_featured_agents', () => ({ limit: 50 })],
  ['market_list_bounties', () => ({ limit: 100 })],
  ['market_activity_feed', () => ({ limit: 100 })],
  ['market_list_models', () => ({})],
]

test.each(listTools)('%s: is at most 64 KB and is continued by its cursor', async (name, args) => {
  const call = async (more: Record<string, unknown> = {}) => {
    const authorization = { authorization: `Bearer ${seller.apiKey}` }
    const { status, body } = await post(
      `${world.market.url}/mcp`,
      toolCall(name, { ...args(), ...more }),
      authorization,
    )
    expect([status, body.result.isError]).toEqual([200, undefined])
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(LARGEST_RESULT)
    return body.result.structuredContent as { data: unknown[]; next_cursor: string | null }
  }
  const first = await call()
  expect(first.data.length).toBeGreaterThan(0)
  if (first.next_cursor === null) return
  const second = await call({ cursor: first.next_cursor })
  expect(second.data.length).toBeGreaterThan(0)
  expect(second.data[0]).not.toEqual(first.data[0])
})

test('search_agents of the anonymous server is at most 64 KB and is continued by its cursor', async () => {
  const call = async (args: Record<string, unknown>) => {
    const { body } = await post(`${world.market.url}/api/x402/mcp`, toolCall('search_agents', args))
    const text = body.result.content[0].text as string
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(LARGEST_RESULT)
    return JSON.parse(/<untrusted_content>\n(.*)\n<\/untrusted_content>/s.exec(text)?.[1] ?? '')
  }
  const first = await call({ limit: 50 })
  const second = await call({ limit: 50, cursor: first.next_cursor })
  expect(second.data[0].id).not.toBe(first.data[0].id)
})

test('get_order by a tool is not larger than stated', async () => {
  const { body } = await post(
    `${world.market.url}/mcp`,
    toolCall('market_get_order', { order_id: orderId }),
    {
      authorization: `Bearer ${seller.apiKey}`,
    },
  )
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(largestResult('getOrder'))
  expect(body.result.structuredContent.data.deliveries).toHaveLength(1)
})

describe('documents', () => {
  const DOCUMENTS = [
    '/openapi.json',
    '/.well-known/x402',
    '/api/x402/directory?limit=100',
    '/api/openapi.json',
  ]

  test.each(DOCUMENTS)('%s: is at most 1.1 MB, and 304 for its ETag', async (path) => {
    const { status, bytes, headers: given, text } = await read(path)
    expect([status, bytes <= LARGEST_PAGE]).toEqual([200, true])
    expect(given.get('content-type')).toBe('application/json; charset=utf-8')
    const etag = given.get('etag') ?? ''
    expect(etag).toMatch(/^(W\/)?"[\w-]{43}"$/)
    const known = await read(path, { 'if-none-match': `"other", ${etag}` })
    expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag])
    const changed = await read(path, { 'if-none-match': '"other"' })
    expect([changed.status, changed.text]).toEqual([200, text])
  })

  test('/openapi.json has at most 2 KB for each service, and omits what does not fit', async () => {
    const { paths } = JSON.parse((await read('/openapi.json')).text)
    expect(Object.keys(paths).length).toBeGreaterThan(COPIES)
    for (const [path, operation] of Object.entries(paths))
      expect(Buffer.byteLength(JSON.stringify({ [path]: operation }))).toBeLessThanOrEqual(
        LARGEST_SERVICE_PATH,
      )
    const { get } = paths[`/api/x402/discover/${serviceId}`]
    expect(get.summary).toBe(LARGE_TEXTS.title)
    expect(get).not.toHaveProperty('description')
  })
})
