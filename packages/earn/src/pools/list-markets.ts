import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Usdc } from '@market/kernel/money'
import type { PauseReason } from './pool.ts'
import { aprOf, rateSince } from './rate.ts'
import { findFreshPools } from './require-pool.ts'
import { findPriceEnds } from './store.ts'

export interface MarketView extends Omit<VenueMarket, 'vault'> {
  /** Null while there are too few prices. */
  readonly aprPct: number | null
  /** Everything that the vault manages, for all its depositors. */
  readonly tvl: Usdc
  /** What the vault would pay out to the pool now. */
  readonly available: Usdc
  readonly isDepositable: boolean
  readonly paused: PauseReason | null
}

/** The configured markets as their venues were read last. Those that were not read for a while are left out. */
export async function listMarkets(
  { db, clock }: Needs<'db' | 'clock'>,
  markets: readonly VenueMarket[],
): Promise<MarketView[]> {
  const now = clock.now()
  const fresh = await findFreshPools(db, markets, now)
  const keys = fresh.map(({ market }) => market.key)
  const prices = await findPriceEnds(db, keys, rateSince(now))
  return fresh.map(({ market: { vault: _, ...market }, pool: { reading, paused } }) => ({
    ...market,
    aprPct: aprOf(prices.get(market.key) ?? [], now),
    tvl: reading.tvl,
    available: reading.liquid,
    isDepositable: reading.acceptsDeposits && paused === null,
    paused,
  }))
}
