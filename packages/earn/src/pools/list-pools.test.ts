import type { VenueMarket } from '@market/core/ports/venue'
import { HOUR, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { listMarkets } from './list-markets.ts'
import { listPools } from './list-pools.ts'
import { listPositions } from './list-positions.ts'
import { openPools } from './open-pools.ts'
import { readPools } from './read-pools.ts'
import { requirePool } from './require-pool.ts'
import { riskOf } from './risk.ts'
import { SHARE } from './shares.ts'
import { enter, MARKET, readingOf, USD, venueOf } from './test-venue.ts'

const OTHER: VenueMarket = {
  ...MARKET,
  ...{ key: 'other:lp', venue: 'other', market: 'lp', kind: 'liquidity_provision', label: 'Other LP' },
  vault: `0x${'c'.repeat(40)}`,
}
const MARKETS = [MARKET, OTHER]
const MONEY = new Map([[MARKET.key, { idle: usdc(3n * USD), queued: usdc(2n * USD) }]])
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
    expect(await listMarkets(ctx, MARKETS, MONEY)).toEqual([
      {
        ...market,
        aprPct: 8.76,
        tvl: 1_000_000n * USD,
        available: 13n * USD,
        isDepositable: true,
        paused: null,
      },
    ])
    ctx.clock.advance(1)
    await expect(listMarkets(ctx, MARKETS, MONEY)).rejects.toMatchObject(UNREACHABLE)
    await expect(listPools(ctx, MARKETS, MONEY)).rejects.toMatchObject(UNREACHABLE)
  })

  test('a market is not depositable while its pool is paused or its vault accepts nothing', async () => {
    await openAndRead()
    const show = async (changes: Parameters<typeof readingOf>[1]) => {
      ctx.clock.advance(1)
      const venue = venueOf(async () => readingOf(102n * USD, changes))
      await readPools({ ...ctx, venues: { [MARKET.key]: venue } }, { onPaused: () => undefined })
      return (await listMarkets(ctx, MARKETS, MONEY))[0]
    }
    expect(await show({ isHonest: false })).toMatchObject({ isDepositable: false, paused: 'price' })
    expect(await show({ acceptsDeposits: false })).toMatchObject({ isDepositable: false, paused: null })
    expect(await show({})).toMatchObject({ isDepositable: true })
  })

  test('without a configured market Earn is not available', async () => {
    const none = { kind: 'unavailable', extra: { code: 'earn_unavailable' } }
    await expect(listMarkets(ctx, [], MONEY)).rejects.toMatchObject(none)
    await expect(listPools(ctx, [], MONEY)).rejects.toMatchObject(none)
    await expect(requirePool(ctx, [], undefined)).rejects.toMatchObject(none)
    await expect(listMarkets(ctx, MARKETS, MONEY)).rejects.toMatchObject(UNREACHABLE)
  })
})

test('listPools returns what the ledger says, and what can be paid out', async () => {
  await openAndRead()
  expect(await listPools(ctx, MARKETS, MONEY)).toEqual([
    {
      ...{ key: MARKET.key, venue: 'morpho', kind: 'lending' },
      totalShares: 100n * SHARE,
      nav: 102n * USD,
      sharePrice: 1_019_999n,
      freeLiquidity: 13n * USD,
      queuedWithdrawals: 2n * USD,
      paused: null,
    },
  ])
})

test('listPositions values shares by the ledger, also when the venue was not read for long', async () => {
  await openAndRead()
  ctx.clock.advance(HOUR)
  expect(await listPositions(ctx, ['user:u', 'agent:a', 'agent:other'])).toEqual([
    ...[
      {
        poolKey: MARKET.key,
        holder: 'agent:a',
        shares: 25n * SHARE,
        principal: 25n * USD,
        value: 25_499_999n,
      },
    ],
    ...[
      {
        poolKey: MARKET.key,
        holder: 'user:u',
        shares: 75n * SHARE,
        principal: 75n * USD,
        value: 76_499_999n,
      },
    ],
  ])
  expect(await listPositions(ctx, [])).toEqual([])
})

describe('requirePool', () => {
  test('returns the pool of a key, or of the first market', async () => {
    await openAndRead()
    expect(await requirePool(ctx, MARKETS, undefined)).toMatchObject({ key: MARKET.key })
    expect(await requirePool(ctx, MARKETS, MARKET.key)).toMatchObject({ reading: { value: 102n * USD } })
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
