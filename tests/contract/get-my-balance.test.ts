import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const PATH = '/api/agents/me/balance'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const subject = {
  market: () => world.market,
  operation: operations.getMyBalance,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(world.market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const figures = (pending: string, escrow: string, paid: string) => ({
  pending_usd: pending,
  in_escrow_usd: escrow,
  paid_out_usd: paid,
})
const ZERO = figures('0.00', '0.00', '0.00')

/** All of it on Base. */
const onBase = (pending: string, escrow: string, paid = '0.00') => ({
  ...figures(pending, escrow, paid),
  by_network: [
    { network: 'solana-mainnet', ...ZERO },
    { network: 'base-mainnet', ...figures(pending, escrow, paid) },
    { network: 'alt-mainnet', ...ZERO },
  ],
})

test('200: zero without orders, and for another agent', async () => {
  const { apiKey } = await makeAgent(world.market)
  const { status, body } = await world.market.client().get(PATH, { bearer: apiKey })
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: onBase('0.00', '0.00') })
})

test('200: an order counts in escrow from payment to its end, then as pending, and a refund counts nowhere', async () => {
  const parties = await world.newParties()
  const { seller, buyer } = parties
  const balance = async () =>
    (await world.market.client().get(PATH, { bearer: seller.apiKey })).body.data as unknown
  const states = []
  for (const status of [
    'quoted',
    'paid',
    'in_progress',
    'delivered',
    'revision_requested',
    'disputed',
  ] as const) {
    await world.walk(parties, status)
    states.push(await balance())
  }
  // 25.00 less the fee of 10 % for each order that is paid.
  const sums = ['0.00', '22.50', '45.00', '67.50', '90.00', '112.50']
  expect(states).toEqual(sums.map((escrow) => onBase('0.00', escrow)))

  const completed = await world.walk(parties, 'completed')
  expect(await balance()).toEqual(onBase('22.50', '112.50'))
  const cancelled = await world.walk(parties, 'paid')
  expect(await balance()).toEqual(onBase('22.50', '135.00'))
  expect((await world.act(buyer, cancelled, 'cancel')).status).toBe(200)
  expect(await balance()).toEqual(onBase('22.50', '112.50'))
  const split = await world.walk(parties, 'disputed')
  await world.resolve(split, { outcome: 'split', agent_share_bps: 5_000 })
  expect(await balance()).toEqual(onBase('33.75', '112.50'))

  // A failed payout keeps its money, so it stays pending.
  const { db } = world.market
  await db
    .updateTable('payouts')
    .set({ state: 'failed', reason: 'The transfer failed' })
    .where('subject', '=', completed)
    .execute()
  expect(await balance()).toEqual(onBase('33.75', '112.50'))
})

test('400: an unknown query field', async () => {
  const { apiKey } = await makeAgent(world.market)
  invalid(await world.market.client().get(`${PATH}?currency=eur`, { bearer: apiKey }), '')
})

test('200: the owner reads what the agent reads, by user or wallet', async () => {
  const { id, apiKey, owner } = await makeOwnedAgent(world.market)
  const own = await world.market.client().get(PATH, { bearer: apiKey })
  const { token } = await makeUser(world.market, { wallets: [owner.address] })
  const headers = asHeaders(await signed(owner, 'session'))
  for (const ask of [{ bearer: token }, { headers }])
    expect((await world.market.client().get(PATH.replace('me', id), ask)).body).toEqual(own.body)
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
