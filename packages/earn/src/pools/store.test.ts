import { DAY, later, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, expect, test } from 'vitest'
import { SHARE } from './shares.ts'
import {
  addPrice,
  addRecalled,
  findPool,
  findPosition,
  findPositions,
  findPriceEnds,
  mintShares,
  queueShares,
} from './store.ts'
import { addPool, MARKET, USD } from './test-venue.ts'

const HOLDER = 'agent:agt_1'
const KEY = MARKET.key

let ctx: MarketContext
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  await addPool(ctx)
  return database.stop
})

const mint = (holder: string, shares: bigint, principal = usdc(USD)) =>
  ctx.transact((tx) => mintShares(tx, { poolKey: KEY, holder, shares, principal }, ctx.clock.now()))
const queue = (holder: string, shares: bigint, principal = usdc(0n)) =>
  ctx.transact((tx) => queueShares(tx, { poolKey: KEY, holder, shares, principal }, ctx.clock.now()))

test('minted and queued shares change the position and the totals together', async () => {
  await mint(HOLDER, 5n * SHARE)
  await mint(HOLDER, 2n * SHARE)
  await mint('user:u', 10n ** 40n)
  await queue(HOLDER, 3n * SHARE, usdc(500_000n))
  expect(await findPosition(ctx.db, KEY, HOLDER)).toEqual({
    ...{ poolKey: KEY, holder: HOLDER, shares: 4n * SHARE, principal: 1_500_000n },
  })
  expect(await findPool(ctx.db, KEY)).toMatchObject({
    ...{ totalShares: 4n * SHARE + 10n ** 40n, queuedShares: 3n * SHARE, reading: null },
  })
})

test('shares that a holder does not have cannot be queued, and the total stays', async () => {
  await mint(HOLDER, 5n)
  await expect(queue(HOLDER, 6n)).rejects.toThrow('earn_positions_shares_check')
  await expect(queue('user:nobody', 1n)).rejects.toThrow('user:nobody has shares of morpho:usdc')
  await expect(ctx.transact((tx) => addRecalled(tx, KEY, { vaultShares: -1n, shares: 0n }))).rejects.toThrow(
    'earn_pools_venue_shares_check',
  )
  expect(await findPool(ctx.db, KEY)).toMatchObject({ totalShares: 5n, queuedShares: 0n, venueShares: 0n })
})

test('findPositions returns those with shares, and none for no holder', async () => {
  await mint(HOLDER, 5n)
  await mint('user:u', 6n)
  await queue('user:u', 6n)
  expect(await findPositions(ctx.db, [])).toEqual([])
  expect((await findPositions(ctx.db, [HOLDER, 'user:u'])).map(({ holder }) => holder)).toEqual([HOLDER])
})

test('a price is added when the last one is old enough, and old ones are deleted then', async () => {
  const start = ctx.clock.now()
  const add = (at: Date, price: bigint) =>
    ctx.transact((tx) =>
      addPrice(
        tx,
        KEY,
        { at, price },
        { unlessSince: later(at, -10 * MINUTE), deleteBefore: later(at, -DAY) },
      ),
    )
  const points = async () => {
    const rows = await ctx.db.selectFrom('earn_prices').select('price').orderBy('at').execute()
    return rows.map(({ price }) => BigInt(price))
  }
  await add(start, 1n)
  await add(start, 2n)
  await add(later(start, 9 * MINUTE), 3n)
  await add(later(start, 10 * MINUTE), 4n)
  await add(later(start, 30 * MINUTE), 5n)
  expect(await points()).toEqual([1n, 4n, 5n])
  const ends = await findPriceEnds(ctx.db, [KEY, 'other:one'], later(start, MINUTE))
  expect(ends.get(KEY)?.map(({ price }) => price)).toEqual([4n, 5n])
  expect(ends.has('other:one')).toBe(false)
  await add(later(start, DAY + 11 * MINUTE), 6n)
  expect(await points()).toEqual([5n, 6n])
})
