import { SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { statementOf, totals } from '@market/money/ledger'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { revalue, type Valuation } from './revalue.ts'
import { SHARE, valueOfShares } from './shares.ts'
import { lockPool } from './store.ts'
import { addPool, booked, enter, MARKET, owe, USD } from './test-venue.ts'

const HOLDER = 'agent:agt_1'

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  await addPool(ctx)
  await enter(ctx, MARKET, { holder: HOLDER, amount: 100n * USD, shares: 100n * SHARE })
  return database.stop
})

const value = (micros: bigint): Promise<Valuation> =>
  ctx.transact(async (tx) => {
    ctx.clock.advance(SECOND)
    return revalue(ctx, tx, await lockPool(tx, MARKET.key), usdc(micros))
  })

const reasons = async () =>
  (await statementOf(ctx.db, { subject: MARKET.key }, { limit: 10 })).journals
    .map(({ reason }) => reason)
    .filter((reason) => reason !== 'test')

test('a gain belongs to the depositors, and the same value again posts nothing', async () => {
  const { equity, missing } = await value(103n * USD)
  expect({ equity, missing }).toEqual({ equity: { micros: 103n * USD, shares: 100n * SHARE }, missing: 0n })
  expect(await booked(ctx)).toEqual({ venue: 103n * USD, equity: 103n * USD })
  expect(valueOfShares(100n * SHARE, equity)).toBe(102_999_999n)
  await value(103n * USD)
  expect(await reasons()).toEqual(['earn.gain'])
  expect(await totals(ctx.db, MARKET.network)).toMatchObject({ imbalance: 0n })
})

test('a loss is of the depositors, down to nothing', async () => {
  expect(await value(99_999_999n)).toMatchObject({ equity: { micros: 99_999_999n }, missing: 0n })
  expect(await value(0n)).toMatchObject({ equity: { micros: 0n }, missing: 0n })
  expect(await booked(ctx)).toEqual({ venue: 0n, equity: 0n })
  expect(await reasons()).toEqual(['earn.loss', 'earn.loss'])
})

test('a loss above the equity is missing to what is owed; a recovery covers that first and then is a gain', async () => {
  await owe(ctx, MARKET, 60n * USD)
  expect(await value(45n * USD)).toMatchObject({ equity: { micros: 0n }, missing: 15n * USD })
  expect(await booked(ctx)).toEqual({ venue: 60n * USD, equity: 0n })
  expect(await value(10n * USD)).toMatchObject({ equity: { micros: 0n }, missing: 50n * USD })
  expect(await value(60n * USD - 1n)).toMatchObject({ equity: { micros: 0n }, missing: 1n })
  expect(await value(60n * USD)).toMatchObject({ equity: { micros: 0n }, missing: 0n })
  expect(await value(70n * USD)).toMatchObject({ equity: { micros: 10n * USD }, missing: 0n })
  expect(await booked(ctx)).toEqual({ venue: 70n * USD, equity: 10n * USD })
  expect(await reasons()).toEqual(['earn.gain', 'earn.loss'])
  expect(await totals(ctx.db, MARKET.network)).toMatchObject({ imbalance: 0n })
})

test('a gift changes nothing: only the shares that our own deposits brought are valued', async () => {
  // A vault by its numbers, in which our wallet has our shares and then a gift of as many.
  const vault = { assets: 500n * USD, shares: 500n * SHARE, ofWallet: 200n * SHARE }
  const { venueShares } = await ctx.transact((tx) => lockPool(tx, MARKET.key))
  const { equity } = await value((vault.assets * venueShares) / vault.shares)
  expect(vault.ofWallet).toBe(2n * venueShares)
  expect(equity).toEqual({ micros: 100n * USD, shares: 100n * SHARE })
  expect(await booked(ctx)).toEqual({ venue: 100n * USD, equity: 100n * USD })
  expect(await reasons()).toEqual([])
})
