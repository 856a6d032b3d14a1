import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { whileOn } from '../support/operator.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'

let world: OrderWorld
let parties: Parties
let spare = ''
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
  spare = await world.walk(parties, 'completed')
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/orders/${id}/request-payout-retry`
const retry = (id: string, ask: RequestOptions) => world.market.client().post(pathOf(id), {}, ask)

commonWriteErrors({
  market: () => world.market,
  operation: operations.retryPayout,
  good: async () => ({
    path: pathOf(await world.walk(parties, 'completed')),
    body: {},
    ask: { bearer: parties.seller.apiKey },
  }),
  other: (call) => ({ ...call, path: pathOf(spare) }),
})

/** An agent of a user, which has no payout address on Base. */
async function withoutAddress(): Promise<{ sold: Parties; token: string }> {
  const { token } = await makeUser(world.market)
  const agent = await makeAgent(world.market, { idp_access_token: token })
  const fields = { title: 'Reviews a pull request', price_type: 'quote', price_usd: undefined }
  const service = await makeService(world.market, agent, fields)
  const seller = { ...agent, owner: evmSigner(), serviceId: service.id }
  return { sold: { buyer: parties.buyer, seller }, token }
}

test('200: does not change a payout that is being sent', async () => {
  const { seller } = parties
  const { status, body } = await retry(spare, { bearer: seller.apiKey })
  expect(status).toBe(200)
  const payout = { status: 'queued', payee: seller.owner.address.toLowerCase() }
  expect(body).toEqual({ success: true, data: { order_id: spare, payout } })
  const headers = await signOnce(world.market, seller.owner, `orders.retry-payout:${spare}`)
  expect((await retry(spare, { headers })).body.data).toEqual({ order_id: spare, payout })
})

test('order.completed: payout_failed is true when payouts of the network are frozen, and false when those of another are', async () => {
  for (const [name, payout_failed] of [
    ['freeze_payouts_base', true],
    ['freeze_payouts', true],
    ['freeze_payouts_solana', false],
  ] as const) {
    const id = await world.walk(parties, 'delivered')
    await whileOn(world.market, name, async () => {
      expect((await world.act(parties.buyer, id, 'approve')).body.data.status).toBe('completed')
    })
    const events = await world.market.db
      .selectFrom('events')
      .select('data')
      .where('order_id', '=', id)
      .where('event', '=', 'order.completed')
      .execute()
    expect(events).toEqual([{ data: { payout_failed } }])
  }
})

test('422: the agent lost its payout address before the order completed, or a new one is pending; 200 after its owner confirms it', async () => {
  const { sold, token } = await withoutAddress()
  const ask = { bearer: sold.seller.apiKey }
  const settle = (payout_address_base: string | null) =>
    world.market.db
      .updateTable('agents')
      .set({ payout_address_base })
      .where('id', '=', sold.seller.id)
      .execute()
  await settle(evmSigner().address.toLowerCase())
  const id = await world.walk(sold, 'delivered')
  await settle(null)
  expect((await world.act(sold.buyer, id, 'approve')).status).toBe(200)
  const events = await world.market.client().get('/api/events', ask)
  expect(events.body.data.at(-1)).toMatchObject({ event: 'order.completed', data: { payout_failed: true } })
  const inbox = await world.market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data[0]).toMatchObject({ kind: 'order.payout_failed', data: { order_id: id } })
  rejected(await retry(id, ask), 422, 'no_payout_address')

  const payout_address_base = evmSigner().address
  const changed = await world.market.client().patch('/api/agents/me', { payout_address_base }, ask)
  expect(changed.status).toBe(200)
  rejected(await retry(id, ask), 422, 'no_payout_address')
  const path = `/api/agents/${sold.seller.id}/payout-change/confirm`
  const confirmed = await world.market
    .client()
    .post(path, { address: payout_address_base }, { bearer: token })
  expect(confirmed.status).toBe(200)
  const { status, body } = await retry(id, ask)
  expect(status).toBe(200)
  expect(body.data.payout).toEqual({ status: 'queued', payee: payout_address_base.toLowerCase() })
})

test('400: an order that is not completed, and an invalid id', async () => {
  const ask = { bearer: parties.seller.apiKey }
  rejected(await retry(await world.walk(parties, 'delivered'), ask), 400, 'illegal_transition')
  invalid(await retry('order_1', ask), 'order_id')
})

test('403: the buyer, and an admin key', async () => {
  rejected(
    await retry(spare, { headers: await parties.buyer.headers(`orders.retry-payout:${spare}`) }),
    403,
    'not_your_act',
  )
  rejected(await retry(spare, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: the same message for a missing order and an order of other parties', async () => {
  const { apiKey } = await makeOwnedAgent(world.market)
  for (const unknown of [NO_ORDER, spare]) {
    const reply = await retry(unknown, { bearer: apiKey })
    rejected(reply, 404, 'order_not_found')
    expect(reply.body.error).toBe(`Order "${unknown}" does not exist.`)
  }
})

test('409: the order has no payout', async () => {
  const id = await world.walk(parties, 'completed')
  // As after a split whose share of the agent is less than a millionth.
  await world.market.db.deleteFrom('payouts').where('subject', '=', id).execute()
  rejected(await retry(id, { bearer: parties.seller.apiKey }), 409, 'nothing_earned')
})

test('409: the payout is already sent', async () => {
  const id = await world.walk(parties, 'completed')
  // As the worker leaves it once the chain can no longer undo it.
  await world.market.db
    .updateTable('payouts')
    .set({ state: 'final', final_reference: `0x${'1'.repeat(64)}` })
    .where('subject', '=', id)
    .execute()
  rejected(await retry(id, { bearer: parties.seller.apiKey }), 409, 'already_paid')
})
