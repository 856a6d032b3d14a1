import type { VenueMarket } from '@market/core/ports/venue'
import { HOUR, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { listPositions } from '../withdrawals/index.ts'
import { listMarkets } from './list-markets.ts'
import { listPools } from './list-pools.ts'
import { openPools } from './open-pools.ts'
import { readPools } from './read-pools.ts'
import { requirePool } from './require-pool.ts'
import { riskOf } from './risk.ts'
import { SHARE } from './shares.ts'
import { enter, MARKET, queue, readingOf, USD, venueOf } from './test-venue.ts'

const OTHER: VenueMarket = {
  ...MARKET,
  ...{ key: 'other:lp', venue: 'other', market: 'lp', kind: 'liquidity_provision', label: 'Other LP' },
  vault: `0x${'c'.repeat(40)}`,
}
const MARKETS = [MARKET, OTHER]
const UNREACHABLE = {
  kind: 'unavailable',
  message: 'The venues of Earn cannot be reached. Nothing was changed. Try again later.',
  extra: { code: 'earn_unavailable', retryAfterSeconds: 60 },
}

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  return database.stop
})

const venuesOf = (value: bigint, price: bigint) => ({
  [MARKET.key]: venueOf(async () => readingOf(value, { price, liquid: usdc(10n * USD) })),
})

/** A pool of 100 USD that gained 2 USD within an hour. */
async function openAndRead(): Promise<void> {
  await openPools({ ...ctx, venues: venuesOf(0n, 1n) }, { onPaused: () => undefined })
  await enter(ctx, MARKET, { holder: 'user:u', amount: 75n * USD, shares: 75n * SHARE })
  await enter(ctx, MARKET, { holder: 'agent:a', amount: 25n * USD, shares: 25n * SHARE })
  await readPools({ ...ctx, venues: venuesOf(100n * USD, 1_000_000_000n) }, { onPaused: () => undefined })
  ctx.clock.advance(HOUR)
  await readPools({ ...ctx, venues: venuesOf(102n * USD, 1_000_010_000n) }, { onPaused: () => undefined })
}

describe('listMarkets', () => {
  test('returns the markets whose venue was read within two minutes', async () => {
    await openAndRead()
    ctx.clock.advance(2 * MINUTE)
    const { vault: _, ...market } = MARKET
    expect(await listMarkets(ctx, MARKETS)).toEqual([
      {
        ...market,
        aprPct: 8.76,
        tvl: 1_000_000n * USD,
        available: 10n * USD,
        isDepositable: true,
        paused: null,
      },
    ])
    ctx.clock.advance(1)
    await expect(listMarkets(ctx, MARKETS)).rejects.toMatchObject(UNREACHABLE)
    await expect(listPools(ctx, MARKETS)).rejects.toMatchObject(UNREACHABLE)
  })

  test('a market is not depositable while its pool is paused or its vault accepts nothing', async () => {
    await openAndRead()
    const show = async (changes: Parameters<typeof readingOf>[1]) => {
      ctx.clock.advance(1)
      const venue = venueOf(async () => readingOf(102n * USD, changes))
      await readPools({ ...ctx, venues: { [MARKET.key]: venue } }, { onPaused: () => undefined })
      return (await listMarkets(ctx, MARKETS))[0]
    }
    expect(await show({ isHonest: false })).toMatchObject({ isDepositable: false, paused: 'price' })
    expect(await show({ acceptsDeposits: false })).toMatchObject({ isDepositable: false, paused: null })
    expect(await show({})).toMatchObject({ isDepositable: true })
  })

  test('without a configured market Earn is not available', async () => {
    const none = { kind: 'unavailable', extra: { code: 'earn_unavailable' } }
    await expect(listMarkets(ctx, [])).rejects.toMatchObject(none)
    await expect(listPools(ctx, [])).rejects.toMatchObject(none)
    await expect(requirePool(ctx, [], undefined)).rejects.toMatchObject(none)
    await expect(listMarkets(ctx, MARKETS)).rejects.toMatchObject(UNREACHABLE)
  })
})

test('listPools: values positions and withdrawals at the last reading, and says what can be paid out', async () => {
  await openAndRead()
  await queue(ctx, MARKET, { holder: 'user:u', shares: 50n * SHARE })
  expect(await listPools(ctx, MARKETS)).toEqual([
    {
      ...{ key: MARKET.key, venue: 'morpho', kind: 'lending' },
      totalShares: 50n * SHARE,
      nav: 51n * USD,
      sharePrice: 1_020_000n,
      freeLiquidity: 10n * USD,
      queuedWithdrawals: 51n * USD,
      paused: null,
    },
  ])
})

test('listPositions values shares at the last reading, also when the venue was not read for long', async () => {
  await openAndRead()
  ctx.clock.advance(HOUR)
  const none = { queuedShares: 0n, queuedValue: 0n, unpaid: 0n }
  const of = (holder: string, count: bigint, value: bigint) => ({
    ...{ poolKey: MARKET.key, holder, shares: count * SHARE, principal: count * USD, value, ...none },
  })
  expect(await listPositions(ctx, ['user:u', 'agent:a', 'agent:other'])).toEqual([
    of('agent:a', 25n, 25_500_000n),
    of('user:u', 75n, 76_500_000n),
  ])
  expect(await listPositions(ctx, [])).toEqual([])
})

describe('requirePool', () => {
  test('returns the pool of a key, or of the first market', async () => {
    await openAndRead()
    expect(await requirePool(ctx, MARKETS, undefined)).toMatchObject({ key: MARKET.key })
    expect(await requirePool(ctx, MARKETS, MARKET.key)).toMatchObject({
      reading: { price: { value: 102n * USD } },
    })
  })

  test('rejects an unknown key, and a pool that was not read for a while', async () => {
    await openAndRead()
    await expect(requirePool(ctx, MARKETS, 'no:such')).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('GET /api/earn/pool/markets'),
      extra: { code: 'pool_not_found' },
    })
    await expect(requirePool(ctx, MARKETS, OTHER.key)).rejects.toMatchObject(UNREACHABLE)
    ctx.clock.advance(2 * MINUTE + 1)
    await expect(requirePool(ctx, MARKETS, MARKET.key)).rejects.toMatchObject(UNREACHABLE)
  })
})

test('riskOf names what a depositor can lose', () => {
  expect(riskOf('lending')).toMatch(/variable.*over-collateralized.*losses.*can wait/)
  expect(riskOf('liquidity_provision')).toMatch(/counterparty.*estimated 60 %.*principal is at risk.*0\.00 %/)
})
