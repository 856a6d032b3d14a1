import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/agents/me/payouts'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const list = (bearer: string, query = '') => world.market.client().get(`${PATH}${query}`, { bearer })

const subject = {
  market: () => world.market,
  operation: operations.listMyPayouts,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(world.market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const payoutOf = (order_id: string, fields: Record<string, unknown> = {}) => ({
  state: 'queued',
  order_id,
  amount_usd: '22.50',
  network: 'base-mainnet',
  tx_hash: null,
  hold_code: null,
  held_until: null,
  reason: null,
  created_at: expect.stringMatching(INSTANT) as string,
  ...fields,
})

test('200: its payouts, newest first and in pages; refunds and payouts of other agents are not among them', async () => {
  const parties = await world.newParties()
  const { seller, buyer } = parties
  const others = await world.newParties()
  await world.walk(others, 'completed')
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    ids.unshift(await world.walk(parties, 'completed'))
    await world.advance(1_000)
  }
  const cancelled = await world.walk(parties, 'paid')
  expect((await world.act(buyer, cancelled, 'cancel')).status).toBe(200)

  const all = await list(seller.apiKey)
  expect(all.status).toBe(200)
  expect(all.body).toEqual({ success: true, data: ids.map((id) => payoutOf(id)), next_cursor: null })
  const first = await list(seller.apiKey, '?limit=2')
  expect(first.body.data).toEqual(all.body.data.slice(0, 2))
  const next = await list(seller.apiKey, `?limit=2&cursor=${first.body.next_cursor}`)
  expect(next.body).toEqual({ success: true, data: all.body.data.slice(2), next_cursor: null })
})

test('200: shows why a payout waits, the hash of a sent one, and one whose payment was reversed', async () => {
  const parties = await world.newParties()
  const { db } = world.market
  const change = async (to: Record<string, unknown>) => {
    const id = await world.walk(parties, 'completed')
    await db.updateTable('payouts').set(to).where('subject', '=', id).execute()
    await world.advance(1_000)
    return id
  }
  const tx_hash = `0x${'1'.repeat(64)}`
  const sent = await change({ state: 'final', final_reference: tx_hash })
  const held = await change({ state: 'held', hold_code: 'payout_cap', reason: 'It is above the cap' })
  const withdrawn = await change({ state: 'withdrawn', reason: 'The payment was reversed' })
  expect((await list(parties.seller.apiKey)).body.data).toEqual([
    payoutOf(withdrawn, { state: 'withdrawn', reason: 'The payment was reversed' }),
    payoutOf(held, { state: 'held', hold_code: 'payout_cap', reason: 'It is above the cap' }),
    payoutOf(sent, { state: 'sent', tx_hash }),
  ])
})

test('400: a cursor of another list and an unknown field', async () => {
  const { apiKey } = await makeOwnedAgent(world.market)
  invalid(await list(apiKey, '?cursor=bm9uc2Vuc2U'), 'cursor')
  invalid(await list(apiKey, '?state=sent'), '')
})

test('200: the owner, by user or wallet, reads what the agent reads', async () => {
  const parties = await world.newParties()
  await world.walk(parties, 'completed')
  const own = await list(parties.seller.apiKey)
  expect(own.body.data).toHaveLength(1)
  const { id } = parties.seller
  const headers = asHeaders(await signed(parties.seller.owner, 'session'))
  const path = `/api/agents/${id}/payouts`
  expect((await world.market.client().get(path, { headers })).body).toEqual(own.body)
})

test('400: me without an API key', async () => {
  const { token } = await makeUser(world.market)
  invalid(await world.market.client().get(PATH, { bearer: token }), 'agent_id')
})

test('403: another user, wallet and agent, and an operator', async () => {
  const { id } = await makeOwnedAgent(world.market)
  const path = PATH.replace('me', id)
  const { token } = await makeUser(world.market)
  const { apiKey } = await makeAgent(world.market)
  for (const bearer of [token, apiKey])
    rejected(await world.market.client().get(path, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), 'session'))
  rejected(await world.market.client().get(path, { headers }), 403, 'not_your_agent')
  rejected(await world.market.client().get(path, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: no such agent', async () => {
  const { token } = await makeUser(world.market)
  const path = PATH.replace('me', 'agt_1700000000000_00000000000000000')
  rejected(await world.market.client().get(path, { bearer: token }), 404, 'agent_not_found')
})
