import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Db } from '@market/database/transact'
import {
  findPools,
  listMarkets as listMarketsOf,
  listPools as listPoolsOf,
  type MarketView,
  type PoolMoney,
  type PoolView,
} from '../pools/index.ts'
import { liquidityOf } from './liquidity.ts'

type Ctx = Needs<'db' | 'clock'>

/** The configured markets, as their venues were read last. */
export const listMarkets = async (ctx: Ctx, markets: readonly VenueMarket[]): Promise<MarketView[]> =>
  listMarketsOf(ctx, markets, await moneyOf(ctx.db))

/** Their pools. */
export const listPools = async (ctx: Ctx, markets: readonly VenueMarket[]): Promise<PoolView[]> =>
  listPoolsOf(ctx, markets, await moneyOf(ctx.db))

async function moneyOf(db: Db): Promise<ReadonlyMap<string, PoolMoney>> {
  const found = (await findPools(db)).map(async (pool) => {
    const { idle, owed } = await liquidityOf(db, pool)
    return [pool.key, { idle, queued: owed }] as const
  })
  return new Map(await Promise.all(found))
}
