import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import { makeService } from '../support/services.ts'
import { expectFields, FIELDS } from './spec-tables.ts'

/** Buys by x402 with the fields, headers and statuses of the specification. */

let world: OrderWorld
let parties: Parties
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
})
afterAll(() => world.stop())

const client = () => world.market.client()

const offered = async () => {
  const service = await makeService(world.market, parties.seller, {
    category: 'coding',
    price_usd: '10.00',
  })
  return service.id as string
}
const due = 11_000_000n

test('GET and POST: 402 with the fields of the requirements; 110 % of the price; quotes cannot be bought', async () => {
  const id = await offered()
  for (const [method, path] of [
    ['GET', `/api/x402/discover/${id}`],
    ['GET', `/api/x402/discover?service_id=${id}`],
    ['POST', `/api/x402/pay?service_id=${id}`],
  ] as const) {
    const { status, body } = await client().send(method, path)
    expect(status).toBe(402)
    expectFields(body, ['x402Version', 'accepts'])
    const [accepted] = body['accepts'] as Record<string, unknown>[]
    expectFields(accepted ?? {}, FIELDS.requirements)
    expect(accepted).toMatchObject({ version: '1', scheme: 'exact', maxAmountRequired: String(due) })
    expect(accepted?.['asset']).toMatchObject({ currency: 'USDC' })
  }
  expect((await client().get(`/api/x402/discover/${parties.seller.serviceId}`)).status).not.toBe(402)
})

test('X-PAYMENT with a transaction hash: 200 by pay and discover, 201 as an order; a brief is needed', async () => {
  const id = await offered()
  const headers = async () => ({ 'x-payment': await world.settled(parties.buyer, due) })
  const paid = await client().post(
    `/api/x402/pay?service_id=${id}`,
    { brief: 'Do it.' },
    { headers: await headers() },
  )
  expect([paid.status, paid.body.data.status]).toEqual([200, 'paid'])
  expectFields(paid.body.data, ['order_id', 'status', 'status_url'])
  for (const [query, brief] of [
    ['?brief=Do%20it.', {}],
    ['', { 'x-market-brief': 'Do it.' }],
  ] as const) {
    const found = await client().get(`/api/x402/discover/${id}${query}`, {
      headers: { ...(await headers()), ...brief },
    })
    expect(found.status).toBe(200)
    expectFields(found.body, ['order_id', 'status', 'result_url'])
  }
  const ordered = await client().post(
    '/api/orders',
    { service_id: id, brief: 'Do it.' },
    { headers: await headers() },
  )
  expect(ordered.status).toBe(201)
  const silent = await client().post(`/api/x402/pay?service_id=${id}`, {}, { headers: await headers() })
  expect(silent.status).toBe(400)
})

test.each(['/api/x402/services', '/api/x402/trending', '/api/x402/directory', '/.well-known/x402'])(
  'GET %s is 200',
  async (path) => {
    expect((await client().get(path)).status).toBe(200)
  },
)

test('GET /openapi.json describes each payable service', async () => {
  const id = await offered()
  const { body } = await client().get('/openapi.json')
  expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
  const paths = body['paths'] as Record<string, { get: Record<string, unknown> }>
  expect(paths[`/api/x402/discover/${id}`]?.get).toMatchObject({
    operationId: `x402_${id}`,
    tags: ['coding'],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: expect.stringMatching(/^\d+\.\d+$/) },
      protocols: [{ x402: {} }],
    },
  })
})
