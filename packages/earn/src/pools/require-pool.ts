import type { Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { isFresh, type Pool, type PoolReading } from './pool.ts'
import { findPool, findPools } from './store.ts'

/** A pool that was read a short time ago. */
export type FreshPool = Pool & { readonly reading: PoolReading }

const RETRY_SECONDS = 60

const unreachable = (): ApiError =>
  new ApiError('unavailable', 'The venues of Earn cannot be reached. Nothing was changed. Try again later.', {
    code: 'earn_unavailable',
    retryAfterSeconds: RETRY_SECONDS,
  })

function requireMarkets(markets: readonly VenueMarket[]): void {
  if (markets.length > 0) return
  throw new ApiError(
    'unavailable',
    'Earn is not available on this marketplace: no venue is configured. Nothing was changed.',
    { code: 'earn_unavailable' },
  )
}

const isReadable = (pool: Pool | undefined, now: Date): pool is FreshPool =>
  pool !== undefined && isFresh(pool, now)

/** The configured markets whose pool was read a short time ago, in the order of the configuration. */
export async function findFreshPools(
  db: Db | Tx,
  markets: readonly VenueMarket[],
  now: Date,
): Promise<{ market: VenueMarket; pool: FreshPool }[]> {
  requireMarkets(markets)
  const pools = new Map((await findPools(db)).map((pool) => [pool.key, pool]))
  const fresh = markets.flatMap((market) => {
    const pool = pools.get(market.key)
    return isReadable(pool, now) ? [{ market, pool }] : []
  })
  if (fresh.length === 0) throw unreachable()
  return fresh
}

/** The pool of a key, or of the first configured market. */
export async function requirePool(
  { db, clock }: Needs<'db' | 'clock'>,
  markets: readonly VenueMarket[],
  key: string | undefined,
): Promise<FreshPool> {
  requireMarkets(markets)
  const market = key === undefined ? markets[0] : markets.find((one) => one.key === key)
  if (market === undefined)
    throw new ApiError(
      'not_found',
      `There is no pool ${key}. GET /api/earn/pool/markets lists the keys; without a key, the first one is used.`,
      { code: 'pool_not_found' },
    )
  const pool = await findPool(db, market.key)
  if (!isReadable(pool, clock.now())) throw unreachable()
  return pool
}
