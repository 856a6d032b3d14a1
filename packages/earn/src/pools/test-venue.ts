import type { Venue, VenueMarket, VenueReading } from '@market/core/ports/venue'
import { usdc } from '@market/kernel/money'
import type { MarketContext } from '@market/testing/market-context'
import type { Pool } from './pool.ts'
import { insertPool, lockPool, mintShares, queueShares, saveVaultShares } from './store.ts'

export const USD = 1_000_000n
const SHARE = 10n ** 12n

export const MARKET: VenueMarket = {
  key: 'morpho:usdc',
  venue: 'morpho',
  market: 'usdc',
  kind: 'lending',
  label: 'Morpho USDC',
  network: 'base-mainnet',
  vault: `0x${'a'.repeat(40)}`,
}
export const WALLET = `0x${'b'.repeat(40)}`

export const readingOf = (value: bigint, changes: Partial<VenueReading> = {}): VenueReading => ({
  held: 100n * SHARE,
  value: usdc(value),
  liquid: usdc(value),
  tvl: usdc(1_000_000n * USD),
  price: 1_000_000_000_000n,
  acceptsDeposits: true,
  isHonest: true,
  ...changes,
})

const notRead = () => Promise.reject(new Error('this test only reads the venue'))

/** A market whose reading the test decides. The adapter is tested with real vaults where it is. */
export const venueOf = (
  read: (shares: bigint) => Promise<VenueReading>,
  market: VenueMarket = MARKET,
  wallet = WALLET,
): Venue => ({
  market,
  wallet,
  read,
  redeemable: notRead,
  depositProblem: notRead,
  balance: notRead,
  lock: 'nonce',
  network: market.network,
  counts: notRead,
  sentBetween: notRead,
  sign: notRead,
  send: notRead,
  observe: notRead,
  receiptOf: notRead,
  movedBy: notRead,
})

/** A pool without shares. */
export const addPool = (ctx: MarketContext, market = MARKET): Promise<Pool> =>
  ctx.transact((tx) => insertPool(tx, market, WALLET, ctx.clock.now()))

/** Gives shares to a holder for vault shares that cost `amount`, as a final deposit does. */
export const enter = (
  ctx: MarketContext,
  { key }: VenueMarket,
  { holder, amount, shares }: { holder: string; amount: bigint; shares: bigint },
): Promise<void> =>
  ctx.transact(async (tx) => {
    const { venueShares, ratio } = await lockPool(tx, key)
    await mintShares(tx, { poolKey: key, holder, shares, principal: usdc(amount) }, ctx.clock.now())
    await saveVaultShares(tx, key, venueShares + shares, ratio ?? { vaultShares: shares, shares })
  })

/** Takes shares from a position into a withdrawal, as the worker does. */
export const queue = (
  ctx: MarketContext,
  { key: poolKey }: VenueMarket,
  { holder, shares }: { holder: string; shares: bigint },
): Promise<void> =>
  ctx.transact(async (tx) => {
    await lockPool(tx, poolKey)
    await queueShares(tx, { poolKey, holder, shares, principal: usdc(0n) }, ctx.clock.now())
  })
