import type { Needs } from '@market/core/context'
import type { Usdc } from '@market/kernel/money'
import { type Pool, worthOf } from './pool.ts'
import { findPools } from './store.ts'

export interface PoolMetrics extends Pick<Pool, 'key' | 'network' | 'paused'> {
  /** What the shares of positions and of open withdrawals are worth. */
  readonly equity: Usdc
  readonly queued: Usdc
}

/** Every pool, also one whose market is no longer configured. */
export const poolMetrics = async ({ db }: Needs<'db'>): Promise<PoolMetrics[]> =>
  (await findPools(db)).map((pool) => ({
    ...{ key: pool.key, network: pool.network, paused: pool.paused },
    equity: worthOf(pool.totalShares, pool),
    queued: worthOf(pool.queuedShares, pool),
  }))
