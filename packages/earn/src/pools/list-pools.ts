import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import { type Usdc, usdc } from '@market/kernel/money'
import { type PauseReason, type Pool, worthOf } from './pool.ts'
import { findFreshPools } from './require-pool.ts'
import { SHARE } from './shares.ts'
import { findPools } from './store.ts'

export interface PoolView extends Pick<VenueMarket, 'key' | 'venue' | 'kind'> {
  readonly totalShares: bigint
  /** What the shares of positions are worth. */
  readonly nav: Usdc
  /** What one whole share is worth. */
  readonly sharePrice: Usdc
  /** What the vault would pay out now. */
  readonly freeLiquidity: Usdc
  /** What the shares of open withdrawals are worth. */
  readonly queuedWithdrawals: Usdc
  readonly paused: PauseReason | null
}

const FIRST_PRICE = usdc(1_000_000n)

/** The pools of the configured markets. Those whose venue was not read for a while are left out. */
export async function listPools(
  { db, clock }: Needs<'db' | 'clock'>,
  markets: readonly VenueMarket[],
): Promise<PoolView[]> {
  const fresh = await findFreshPools(db, markets, clock.now())
  return fresh.map(({ market: { key, venue, kind }, pool }) => ({
    ...{ key, venue, kind, totalShares: pool.totalShares, paused: pool.paused },
    nav: worthOf(pool.totalShares, pool),
    sharePrice: pool.ratio === null ? FIRST_PRICE : worthOf(SHARE, pool),
    freeLiquidity: pool.reading.liquid,
    queuedWithdrawals: worthOf(pool.queuedShares, pool),
  }))
}

export interface PoolHolding
  extends Pick<
    Pool,
    'key' | 'network' | 'vault' | 'wallet' | 'totalShares' | 'queuedShares' | 'venueShares'
  > {
  /** What the vault would pay for all of it, as it was read last; null before the first reading. */
  readonly value: Usdc | null
  readonly readAt: Date | null
}

/** What every pool owns, also one whose market is no longer configured. */
export const listHoldings = async ({ db }: Needs<'db'>): Promise<PoolHolding[]> =>
  (await findPools(db)).map((pool) => ({
    ...pool,
    value: pool.reading && worthOf(pool.totalShares + pool.queuedShares, pool),
    readAt: pool.reading?.at ?? null,
  }))
