import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { makeService } from '../support/services.ts'
import { CAIP2, startCatalogServer, startCatalogWorld, TREASURY, USDC } from './catalog-world.ts'

type World = Awaited<ReturnType<typeof startCatalogWorld>>

let world: World
let service: { id: string }
beforeAll(async () => {
  world = await startCatalogWorld()
  service = await makeService(world.market, await makeOwnedAgent(world.market), {
    requirement_fields: [
      { label: 'Colour', type: 'select', options: ['red', 'blue'], required: true },
      { label: 'Site', type: 'url', placeholder: 'Where it goes' },
      { label: 'How many', type: 'number' },
    ],
  })
})
afterAll(() => world.stop())

const read = async (path: string, server = world.server) => JSON.parse((await server.get(path)).text)

test('manifest: has the fields of every client at both paths', async () => {
  const { url } = world.server
  const manifest = await read('/.well-known/x402')
  expect(await read('/.well-known/x402.json')).toEqual(manifest)
  const resource = `${url}/api/x402/discover/${service.id}`
  expect(manifest).toMatchObject({
    version: 1,
    x402Version: 2,
    name: 'Agent Market',
    resources: [resource],
    items: [
      {
        resource: {
          url: resource,
          serviceName: 'A review of one pull request',
          mimeType: 'application/json',
          tags: ['coding', 'agents'],
        },
        type: 'http',
        accepts: [{ network: CAIP2['solana-mainnet'] }, { network: CAIP2['base-mainnet'] }],
        input: { method: 'POST', bodyType: 'json' },
      },
    ],
    hasMore: false,
    endpoints: {
      services: `${url}/api/x402/services`,
      trending: `${url}/api/x402/trending`,
      directory: `${url}/api/x402/directory`,
      discover: `${url}/api/x402/discover/{service_id}`,
      pay: `${url}/api/x402/pay?service_id={service_id}`,
      orders: `${url}/api/orders`,
      openapi: `${url}/openapi.json`,
    },
    networks: [
      {
        network: 'solana-mainnet',
        caip2: CAIP2['solana-mainnet'],
        asset: USDC['solana-mainnet'],
        payTo: TREASURY['solana-mainnet'],
        decimals: 6,
      },
      { network: 'base-mainnet', caip2: CAIP2['base-mainnet'] },
    ],
    rawProof: { header: 'X-PAYMENT', maxAgeSeconds: 3_600 },
    instructions: expect.stringContaining('402'),
  })
})

test('manifest and llms.txt: every endpoint they list exists', async () => {
  const { endpoints } = await read('/.well-known/x402')
  const { text } = await world.server.get('/llms.txt')
  const linked = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => link)
  expect(linked.length).toBeGreaterThan(5)
  // The MCP servers have their own test.
  const links = [...linked, ...(Object.values(endpoints) as string[])].filter(
    (link) => !link.endsWith('/mcp'),
  )
  for (const link of links) {
    const path = link.replace(world.server.url, '').replaceAll('{service_id}', service.id)
    const { status } = await world.server.get(path.includes('search') ? `${path}?query=a` : path)
    if (status !== 404) continue
    // Some are only for POST.
    const posted = await fetch(`${world.server.url}${path}`, { method: 'POST' })
    expect([path, posted.status]).not.toEqual([path, 404])
  }
})

test('services OpenAPI: one operation per service with the fields of the spec', async () => {
  const document = await read('/openapi.json')
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { version: '1.0.0' },
    servers: [{ url: world.server.url }],
  })
  expect(document).not.toHaveProperty('x-pages')
  const path = `/api/x402/discover/${service.id}`
  expect(Object.keys(document.paths)).toEqual([path])
  expect(Object.keys(document.paths[path])).toEqual(['get'])
  expect(document.paths[path].get).toEqual({
    operationId: `x402_${service.id}`,
    summary: 'A review of one pull request',
    description: 'I read one pull request line by line and write down what I would change.',
    tags: ['coding'],
    security: [],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: '13.75' },
      protocols: [{ x402: {} }],
    },
    parameters: [
      expect.objectContaining({ name: 'brief', in: 'query', required: false }),
      expect.objectContaining({ name: 'X-Market-Brief', in: 'header', required: false }),
    ],
    requestBody: {
      required: false,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['brief'],
            properties: {
              brief: expect.objectContaining({ type: 'string' }),
              requirements: {
                type: 'object',
                description: expect.any(String),
                properties: {
                  Colour: { type: 'string', enum: ['red', 'blue'] },
                  Site: { type: 'string', format: 'uri', description: 'Where it goes' },
                  'How many': { type: 'number' },
                },
                required: ['Colour'],
              },
            },
          },
        },
      },
    },
    responses: {
      200: {
        description: 'Payment accepted, order created',
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/PurchasedResource' } },
        },
      },
      402: {
        description: 'Payment required: x402 payment requirements (USDC on Solana or Base)',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentRequired' } } },
      },
    },
  })
  expect(document.components.schemas.PurchasedResource.required).toEqual(['order_id', 'status', 'result_url'])
})

test('services OpenAPI: links to the description of the whole API', async () => {
  const whole = await read('/api/openapi.json')
  expect(whole.paths).toHaveProperty('/api/x402/services')
  expect(Object.keys(whole.paths).length).toBeGreaterThan(30)
})

test('services OpenAPI: many services are split by category and page, each listed once', async () => {
  await sql`
    insert into listings (
      id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours, deliverables,
      quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at
    )
    select 'svc_1700000000000_0' || lpad(n::text, 16, '0'), agent_id, 'copy-' || n,
      case when n % 2 = 0 then 'seo' else 'ugc' end, 'Copy ' || n, description, price_type, price_micros,
      turnaround_hours, deliverables, quota_limit, max_revisions, '[]', active, marketable, created_at, updated_at
    from listings cross join generate_series(1, 502) as n where id = ${service.id}`.execute(world.market.db)
  const server = await startCatalogServer(world.market)
  const document = await read('/openapi.json', server)
  expect(Object.keys(document.paths)).toHaveLength(100)
  expect(document['x-pages']).toHaveLength(12)
  expect(document['x-pages']).toContainEqual({
    category: 'seo',
    url: `${server.url}/openapi.json?category=seo`,
  })
  const found = new Set<string>()
  for (const { url } of document['x-pages']) {
    for (let next: string | null = url; next !== null; ) {
      const page = await read(next.replace(server.url, ''), server)
      for (const path of Object.keys(page.paths)) {
        expect(found).not.toContain(path)
        found.add(path)
      }
      next = page['x-next']
    }
  }
  expect(found.size).toBe(503)
  expect((await read('/.well-known/x402', server)).hasMore).toBe(true)
  await server.stop()
})

test('directory and manifest: descriptions are whole, and 100 services of the largest size are at most 1.1 MB', async () => {
  const longest = '🎨'.repeat(1_000)
  await world.market.db
    .updateTable('listings')
    .set({ description: longest, title: '🎨'.repeat(80) })
    .execute()
  const server = await startCatalogServer(world.market)
  for (const path of ['/api/x402/directory?limit=100', '/.well-known/x402']) {
    const { text } = await server.get(path)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1.1 * 1024 * 1024)
    const { items } = JSON.parse(text)
    expect(items).toHaveLength(100)
    expect(items[0].description ?? items[0].resource.description).toBe(longest)
  }
  await server.stop()
})

test('favicon.ico is an icon file', async () => {
  const response = await fetch(`${world.server.url}/favicon.ico`)
  expect(response.headers.get('content-type')).toBe('image/x-icon')
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(bytes.subarray(0, 4).toString('hex')).toBe('00000100')
  expect(bytes.subarray(23, 26).toString()).toBe('PNG')
})
