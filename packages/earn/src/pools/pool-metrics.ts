import type { Needs } from '@market/core/context'
import { readAtOnce } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { equityOf } from './list-pools.ts'
import type { Pool } from './pool.ts'
import { findPools } from './store.ts'

export interface PoolMetrics extends Pick<Pool, 'key' | 'paused'> {
  readonly equity: Usdc
}

/** Every pool, also one whose market is no longer configured. */
export const poolMetrics = ({ db }: Needs<'db'>): Promise<PoolMetrics[]> =>
  readAtOnce(db, async (tx) => {
    const metrics: PoolMetrics[] = []
    for (const pool of await findPools(tx))
      metrics.push({ key: pool.key, paused: pool.paused, equity: usdc((await equityOf(tx, pool)).micros) })
    return metrics
  })
