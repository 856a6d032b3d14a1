import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import { type Db, readAtOnce, type Tx } from '@market/database/transact'
import { plus, type Usdc, usdc, ZERO } from '@market/kernel/money'
import { balanceOf, pool as equityAccount } from '@market/money/ledger'
import type { PauseReason, Pool, PoolMoney } from './pool.ts'
import { findFreshPools } from './require-pool.ts'
import { type Equity, SHARE, valueOfShares } from './shares.ts'

export interface PoolView extends Pick<VenueMarket, 'key' | 'venue' | 'kind'> {
  readonly totalShares: bigint
  /** What belongs to the depositors, by the ledger. */
  readonly nav: Usdc
  /** What one whole share is worth. */
  readonly sharePrice: Usdc
  /** What the pool has in the treasury, and what the vault would pay out now. */
  readonly freeLiquidity: Usdc
  readonly queuedWithdrawals: Usdc
  readonly paused: PauseReason | null
}

/** What belongs to a pool's depositors now, by the ledger. */
export const equityOf = async (db: Db | Tx, { key, network, totalShares }: Pool): Promise<Equity> => ({
  micros: await balanceOf(db, equityAccount(network, key)),
  shares: totalShares,
})

/** The pools of the configured markets. Those whose venue was not read for a while are left out. */
export const listPools = (
  { db, clock }: Needs<'db' | 'clock'>,
  markets: readonly VenueMarket[],
  money: ReadonlyMap<string, PoolMoney>,
): Promise<PoolView[]> =>
  readAtOnce(db, async (tx) => {
    const views: PoolView[] = []
    for (const { market, pool } of await findFreshPools(tx, markets, clock.now())) {
      const { key, venue, kind } = market
      const { idle, queued } = money.get(key) ?? { idle: ZERO, queued: ZERO }
      const equity = await equityOf(tx, pool)
      views.push({
        ...{ key, venue, kind },
        totalShares: pool.totalShares,
        nav: usdc(equity.micros),
        sharePrice: valueOfShares(SHARE, equity),
        freeLiquidity: plus(idle, pool.reading.liquid),
        queuedWithdrawals: queued,
        paused: pool.paused,
      })
    }
    return views
  })
