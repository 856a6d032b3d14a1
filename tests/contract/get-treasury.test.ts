import { operations } from '@market/contract/operations'
import { payoutMetrics } from '@market/money/payouts'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { InMemoryChain } from '../payments/in-memory-chain.ts'
import { commonErrors } from '../support/common-errors.ts'
import { follow } from '../support/follow.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken, whileOn } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { makeFailed, makePayout } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/treasury'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.getTreasury,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const read = async (query = '') => (await market.client().get(`${PATH}${query}`, { bearer: ADMIN_KEY })).body

const untouched = (network: string) => ({
  network,
  open: false,
  compared_at: null,
  short_usd: '0.00',
  short_since: null,
  balance_usd: '0.00',
  hot_max_usd: null,
  above_hot_max_usd: '0.00',
  cold_address: null,
  cold_usd: '0.00',
  fees_usd: '0.00',
  fees_available_usd: '0.00',
  fees_withdrawn_usd: '0.00',
  waiting: 0,
  oldest_seconds: 0,
  held: 0,
  failed: 0,
  unjustified: 0,
})

/** As a worker does it that reads the chain to its end. */
const compare = async (at: Date) => {
  const ctx = marketContext({ db: market.db, clock: testClock(at) })
  await follow({ ...ctx, chains: { 'base-mainnet': new InMemoryChain() } }, 'base-mainnet')
}

const ofBase = async () => (await read()).data[1]

test('200: every network, not open before it was compared; for an admin key and an operator', async () => {
  for (const bearer of [ADMIN_KEY, await operatorToken(market)]) {
    const { status, body } = await market.client().get(PATH, { bearer })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: ['solana-mainnet', 'base-mainnet', 'alt-mainnet'].map(untouched),
    })
  }
})

test('200: counts and ages of waiting, held and failed payouts, also before the comparison', async () => {
  const waiting = await makePayout(market.db)
  const held = await makePayout(market.db)
  await makeFailed(market.db)
  await makeFailed(market.db, { network: 'alt-mainnet' })
  await market.db
    .updateTable('payouts')
    .set({ state: 'held', hold_code: 'payouts_frozen', reason: 'Payouts are frozen' })
    .where('id', '=', held.id)
    .execute()
  await market.db
    .updateTable('payouts')
    .set({ created_at: new Date(market.now() - 90_500) })
    .where('id', '=', waiting.id)
    .execute()
  const [solana, base, alt] = (await read()).data
  expect(solana).toEqual(untouched('solana-mainnet'))
  expect(base).toMatchObject({ open: false, waiting: 2, held: 1, failed: 1 })
  expect(base.oldest_seconds).toBeGreaterThanOrEqual(90)
  expect(base.oldest_seconds).toBeLessThan(150)
  expect(alt).toEqual({ ...untouched('alt-mainnet'), balance_usd: '5.555555', failed: 1 })
})

test('200: open after the comparison; not open when short or frozen, with amount and time', async () => {
  const at = new Date(market.now())
  await compare(at)
  expect(await ofBase()).toMatchObject({ open: true, compared_at: at.toISOString(), short_since: null })
  await whileOn(market, 'freeze_payouts_alt', async () => expect((await ofBase()).open).toBe(true))
  for (const name of ['freeze_payouts', 'freeze_payouts_base'] as const)
    await whileOn(market, name, async () => expect((await ofBase()).open).toBe(false))
  await market.db
    .updateTable('payout_guards')
    .set({ short_micros: 2_500_001n, short_since: at })
    .where('network', '=', 'base-mainnet')
    .execute()
  expect(await ofBase()).toMatchObject({
    open: false,
    short_usd: '2.500001',
    short_since: at.toISOString(),
  })
})

test('200: open is false when the snapshot is of an earlier database epoch', async () => {
  await compare(new Date(market.now()))
  await market.db
    .updateTable('payout_guards')
    .set({ short_micros: 0n, short_since: null, counted_epoch: 'an earlier epoch' })
    .where('network', '=', 'base-mainnet')
    .execute()
  expect(await ofBase()).toMatchObject({ open: false, short_usd: '0.00' })
  const metrics = await payoutMetrics(marketContext({ db: market.db }))
  expect(metrics.find(({ network }) => network === 'base-mainnet')).toMatchObject({ isOpen: false })
  await market.db.updateTable('payout_guards').set({ counted_epoch: null }).execute()
  expect(await ofBase()).toMatchObject({ open: true })
})

test('400: an unknown query field', async () => {
  invalid(await market.client().get(`${PATH}?network=base-mainnet`, { bearer: ADMIN_KEY }), '')
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) {
    rejected(await market.client().get(PATH, { bearer }), 403, 'wrong_credential')
  }
})
