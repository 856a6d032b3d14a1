import type { Venue, VenueMarket, VenueReading } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import {
  type Account,
  balanceOf,
  pool as equityAccount,
  post,
  venue as venueAccount,
  withdrawal,
} from '@market/money/ledger'
import type { MarketContext } from '@market/testing/market-context'
import type { Pool } from './pool.ts'
import { addVenueShares, insertPool, lockPool, mintShares } from './store.ts'

export const USD = 1_000_000n

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
  valuesOf: notRead,
  withdrawable: notRead,
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
})

/** A pool without shares. */
export const addPool = (ctx: MarketContext, market = MARKET): Promise<Pool> =>
  ctx.transact((tx) => insertPool(tx, market, WALLET, ctx.clock.now()))

/** Gives shares to a holder for money that is in the vault, as a final deposit does. */
export const enter = (
  ctx: MarketContext,
  { key, network }: VenueMarket,
  { holder, amount, shares }: { holder: string; amount: bigint; shares: bigint },
): Promise<void> =>
  ctx.transact(async (tx) => {
    await lockPool(tx, key)
    await move(ctx, tx, { from: venueAccount(network, key), to: equityAccount(network, key), amount })
    await mintShares(tx, { poolKey: key, holder, shares, principal: usdc(amount) }, ctx.clock.now())
    await addVenueShares(tx, key, shares)
  })

/** Moves a part of the equity to what is owed, as a withdrawal does. */
export const owe = (ctx: MarketContext, { key, network }: VenueMarket, amount: bigint): Promise<void> =>
  ctx.transact((tx) =>
    move(ctx, tx, { from: equityAccount(network, key), to: withdrawal(network, 'ewd_1'), amount }),
  )

const move = async (
  ctx: MarketContext,
  tx: Tx,
  { amount, ...accounts }: { from: Account; to: Account; amount: bigint },
): Promise<void> => {
  const key = `test:${ctx.ids.next('jrn')}`
  const moves = [{ ...accounts, amount: usdc(amount) }]
  await post(ctx, tx, { key, reason: 'test', subject: MARKET.key, network: MARKET.network, moves })
}

/** What the ledger has in the venue, and what belongs to depositors. */
export const booked = async (
  { db }: Pick<MarketContext, 'db'>,
  { key, network }: Pick<VenueMarket, 'key' | 'network'> = MARKET,
): Promise<{ venue: bigint; equity: bigint }> => ({
  venue: -(await balanceOf(db, venueAccount(network, key))),
  equity: await balanceOf(db, equityAccount(network, key)),
})
