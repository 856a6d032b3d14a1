import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Db } from '@market/database/transact'
import * as pools from '../pools/index.ts'
import { liquidityOf } from './liquidity.ts'

type Ctx = Needs<'db' | 'clock'>

/** The configured markets, as their venues were read last. */
export const listMarkets = async (ctx: Ctx, markets: readonly VenueMarket[]): Promise<pools.MarketView[]> =>
  pools.listMarkets(ctx, markets, await moneyOf(ctx.db))

/** Their pools. */
export const listPools = async (ctx: Ctx, markets: readonly VenueMarket[]): Promise<pools.PoolView[]> =>
  pools.listPools(ctx, markets, await moneyOf(ctx.db))

async function moneyOf(db: Db): Promise<ReadonlyMap<string, pools.PoolMoney>> {
  const found = (await pools.findPools(db)).map(async (pool) => {
    const { idle, owed } = await liquidityOf(db, pool)
    return [pool.key, { idle, queued: owed }] as const
  })
  return new Map(await Promise.all(found))
}
