import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/contests'
const DUE = 11_000_000n

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const subject: Subject = {
  market: () => world.market,
  operation: operations.listContests,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => world.market.client().get(`${PATH}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body

/** A transfer that two requests name. */
async function contested() {
  const [payer, first, second] = [
    await world.newBuyer(),
    await world.newSeller({ price_usd: '10.00' }),
    await world.newSeller({ price_usd: '10.00' }),
  ]
  const hash = await world.settled(payer, DUE)
  const name = (serviceId: string, brief: string) =>
    world.market
      .client()
      .post(`/api/x402/pay?service_id=${serviceId}`, { brief }, { headers: { 'x-payment': hash } })
  const bought = await name(first.serviceId, 'The first brief.')
  expect((await name(second.serviceId, 'The second brief.')).status).toBe(409)
  return { payer, first, second, hash, id: String(bought.body.data.order_id) }
}

test('200: every contested payment with all namings and their times, oldest first', async () => {
  expect(await read()).toEqual({ success: true, data: [], next_cursor: null })
  const { payer, first, second, hash, id } = await contested()
  const instant = expect.stringMatching(/Z$/)
  const naming = (serviceId: string, brief: string) => ({
    subject: `service:${serviceId}`,
    request: { brief, requirementAnswers: {} },
    amount_usd: '11.00',
    named_at: instant,
  })
  expect((await read()).data).toEqual([
    {
      purchase_id: expect.stringMatching(/^hir_/),
      order_id: id,
      agent_id: null,
      contested_at: instant,
      ends_at: instant,
      network: 'base-mainnet',
      tx_hash: hash,
      payer: payer.address.toLowerCase(),
      paid_at: instant,
      amount_usd: '11.00',
      namings: [naming(first.serviceId, 'The first brief.'), naming(second.serviceId, 'The second brief.')],
    },
  ])
})

test('200: pages contain every item once', async () => {
  for (let n = 0; n < 2; n++) await contested()
  const all = (await read()).data.map(({ order_id }: { order_id: string }) => order_id)
  expect(all.length).toBeGreaterThanOrEqual(3)
  expect(await walkPages(read, 'order_id')).toEqual(all)
})

test('400: a limit out of bounds, an invalid cursor, an unknown query field', async () => {
  invalid(await get('?limit=101'), 'limit')
  invalid(await get('?cursor=x'), 'cursor')
  invalid(await get('?kind=x'), '')
})

test('200: also for an operator', async () => {
  expect((await get('', await operatorToken(world.market))).status).toBe(200)
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(world.market)
  const { apiKey } = await makeAgent(world.market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
