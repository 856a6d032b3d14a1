import type { Venue, VenueMarket, VenueReading } from '@market/core/ports/venue'
import { DAY, later, MINUTE, SECOND } from '@market/kernel/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { openPools } from './open-pools.ts'
import { isFresh, type Pool, worthOf } from './pool.ts'
import { readPools, readVenue } from './read-pools.ts'
import { recordReading } from './record-reading.ts'
import { SHARE } from './shares.ts'
import { addRecalled, findPool, savePause } from './store.ts'
import { enter, MARKET, readingOf, USD, venueOf, WALLET } from './test-venue.ts'

const OTHER: VenueMarket = { ...MARKET, key: 'other:usdc', venue: 'other', vault: `0x${'c'.repeat(40)}` }
const HOLDER = 'user:u'

let ctx: MarketContext
let pauses: unknown[][]
const listener = { onPaused: (...pause: unknown[]) => void pauses.push(pause) }
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  pauses = []
  return database.stop
})

const withVenues = (...venues: readonly Venue[]) => ({
  ...ctx,
  venues: Object.fromEntries(venues.map((venue) => [venue.market.key, venue])),
})
const shows = (reading: VenueReading, market = MARKET): Venue => venueOf(async () => reading, market)
const open = (...venues: readonly Venue[]) => openPools(withVenues(...venues), listener)
const read = (...venues: readonly Venue[]) => {
  ctx.clock.advance(SECOND)
  return readPools(withVenues(...venues), listener)
}
const poolOf = async (key = MARKET.key): Promise<Pool> => {
  const pool = await findPool(ctx.db, key)
  if (pool === undefined) throw new Error(`no pool ${key}`)
  return pool
}
const enterPool = () => enter(ctx, MARKET, { holder: HOLDER, amount: 100n * USD, shares: 100n * SHARE })

/** A pool with 100 USD of one depositor. */
async function openFilled(): Promise<void> {
  await open(shows(readingOf(0n)))
  await enterPool()
}

describe('readPools', () => {
  test('saves what the vault would pay, which values the shares', async () => {
    await openFilled()
    await read(shows(readingOf(101n * USD, { liquid: readingOf(7n).value, acceptsDeposits: false })))
    const price = { value: 101n * USD, vaultShares: 100n * SHARE }
    expect(await poolOf()).toMatchObject({
      reading: { at: ctx.clock.now(), price, liquid: 7n, acceptsDeposits: false },
      paused: null,
    })
    expect(worthOf(SHARE, await poolOf())).toBe(1_010_000n)
    await read(shows(readingOf(0n)))
    expect([worthOf(100n * SHARE, await poolOf()), (await poolOf()).paused]).toEqual([0n, null])
    expect(pauses).toEqual([])
  })

  test('asks only for the shares of our own deposits', async () => {
    await openFilled()
    const asked: bigint[] = []
    const venue = venueOf(async (shares) => {
      asked.push(shares)
      return readingOf(shares / USD)
    })
    await read(venue)
    expect(asked).toEqual([100n * SHARE])
  })

  test('pauses a pool whose venue pays less than it says, and reports each pause once', async () => {
    await openFilled()
    await read(shows(readingOf(100n * USD, { isHonest: false })))
    await read(shows(readingOf(100n * USD, { isHonest: false })))
    expect(pauses).toEqual([[MARKET.key, 'price']])
    await read(shows(readingOf(100n * USD)))
    expect(await poolOf()).toMatchObject({ paused: null })
    await read(shows(readingOf(100n * USD, { isHonest: false })))
    expect(pauses).toHaveLength(2)
  })

  test('a pool whose recall is not understood stays held, whatever is read', async () => {
    await openFilled()
    await ctx.transact((tx) => savePause(tx, MARKET.key, 'held'))
    await read(shows(readingOf(100n * USD)))
    expect(await poolOf()).toMatchObject({ paused: 'held', reading: { price: { value: 100n * USD } } })
  })

  test('an error of one venue does not stop the others, and its pool keeps the last reading until it is stale', async () => {
    await openFilled()
    await open(shows(readingOf(0n), OTHER))
    await read(shows(readingOf(100n * USD)))
    const [before, readAt] = [await poolOf(), ctx.clock.now()]
    ctx.clock.advance(MINUTE)
    const failing = venueOf(() => Promise.reject(new Error('no node responds')))
    const sweep = read(failing, shows(readingOf(0n), OTHER))
    await expect(sweep).rejects.toMatchObject({
      message: '1 of 2 pools could not be read',
      errors: [
        { message: `The pool ${MARKET.key} could not be read`, cause: { message: 'no node responds' } },
      ],
    })
    expect(await poolOf()).toEqual(before)
    expect(await poolOf(OTHER.key)).toMatchObject({ reading: { at: ctx.clock.now() } })
    expect(isFresh(before, later(readAt, 2 * MINUTE))).toBe(true)
    expect(isFresh(before, later(readAt, 2 * MINUTE + 1))).toBe(false)
  })

  test('a reading is dropped when the shares of the pool changed meanwhile', async () => {
    await openFilled()
    const slow = venueOf(async () => {
      await ctx.transact((tx) => addRecalled(tx, MARKET.key, { vaultShares: 1n, shares: 0n }))
      return readingOf(50n * USD)
    })
    await read(slow)
    expect(await poolOf()).toMatchObject({ reading: null })
  })

  test('a reading that began before a recorded one changes nothing, and one of a wrong clock stops nobody', async () => {
    await openFilled()
    const venue = shows(readingOf(90n * USD))
    const early = await readVenue(ctx, venue, await poolOf())
    await read(shows(readingOf(105n * USD)))
    const record = (reading: typeof early) => ctx.transact((tx) => recordReading(ctx, tx, venue, reading))
    await record(early)
    expect(await poolOf()).toMatchObject({ reading: { price: { value: 105n * USD } } })

    const ahead = { ...early, at: later(ctx.clock.now(), DAY) }
    await record(ahead)
    expect(isFresh(await poolOf(), ctx.clock.now())).toBe(false)
    await read(shows(readingOf(105n * USD)))
    expect(await poolOf()).toMatchObject({ reading: { at: ctx.clock.now(), price: { value: 105n * USD } } })
  })

  test('keeps a price every ten minutes, for 40 days, and none of a venue that is not honest', async () => {
    await openFilled()
    const prices = async () => {
      const rows = await ctx.db.selectFrom('earn_prices').select('price').orderBy('at').execute()
      return rows.map(({ price }) => Number(price))
    }
    for (const price of [1n, 2n, 3n, 4n]) {
      await read(shows(readingOf(100n * USD, { price, isHonest: price !== 3n })))
      ctx.clock.advance(price === 1n ? MINUTE : 10 * MINUTE)
    }
    expect(await prices()).toEqual([1, 4])
    ctx.clock.advance(40 * DAY - 25 * MINUTE)
    await read(shows(readingOf(100n * USD, { price: 5n })))
    expect(await prices()).toEqual([4, 5])
  })
})

describe('openPools', () => {
  const moved: VenueMarket = { ...MARKET, vault: `0x${'d'.repeat(40)}` }

  test('adds the pools of this worker, once', async () => {
    const venues = [shows(readingOf(0n)), shows(readingOf(0n), OTHER)]
    await open(...venues)
    await Promise.all([open(...venues), open(...venues)])
    expect(await poolOf()).toMatchObject({
      vault: MARKET.vault,
      wallet: WALLET,
      totalShares: 0n,
      paused: null,
    })
    expect(await poolOf(OTHER.key)).toMatchObject({ vault: OTHER.vault })
  })

  test.each([
    ['no shares', () => Promise.resolve()],
    ['shares of depositors', () => enterPool()],
    [
      'shares of the vault',
      () => ctx.transact((tx) => addRecalled(tx, MARKET.key, { vaultShares: 1n, shares: 0n })),
    ],
  ])(
    'pauses a pool with %s, reads nothing, and continues when the configuration is as it was',
    async (_, fill) => {
      await open(shows(readingOf(0n)))
      await fill()
      const changed = shows(readingOf(7n), moved)
      await open(changed)
      await open(changed)
      expect(pauses).toEqual([[MARKET.key, 'wallet']])
      await read(changed)
      await read(shows(readingOf(7n)))
      expect(await poolOf()).toMatchObject({ vault: MARKET.vault, paused: 'wallet', reading: null })
      await open(shows(readingOf(7n)))
      expect(await poolOf()).toMatchObject({ paused: null })
      await read(shows(readingOf(100n * USD)))
      expect(await poolOf()).toMatchObject({ paused: null, reading: { at: ctx.clock.now() } })
    },
  )

  test('a vault that another pool has is an error, and the other pools are opened', async () => {
    await open(shows(readingOf(0n)))
    const same = { ...MARKET, key: 'morpho:renamed' }
    await expect(open(shows(readingOf(0n), same), shows(readingOf(0n), OTHER))).rejects.toThrow(
      '1 of 2 pools could not be opened',
    )
    expect(await poolOf(OTHER.key)).toMatchObject({ vault: OTHER.vault })
  })
})
