export { findPoolParts } from './find-parts.ts'
export { listMarkets, type MarketView } from './list-markets.ts'
export { equityOf, listPools, type PoolView } from './list-pools.ts'
export { listPositions, type PositionView } from './list-positions.ts'
export { openPools } from './open-pools.ts'
export type {
  EarnContext,
  PauseReason,
  Pool,
  PoolListener,
  PoolMoney,
  PoolReading,
  Position,
} from './pool.ts'
export { isFresh } from './pool.ts'
export { type PoolMetrics, poolMetrics } from './pool-metrics.ts'
export { aprOf } from './rate.ts'
export { readPools, readVenue } from './read-pools.ts'
export { type RecordedReading, recordReading, type TimedReading } from './record-reading.ts'
export { type FreshPool, requirePool } from './require-pool.ts'
export { revalue, type Valuation } from './revalue.ts'
export { riskOf } from './risk.ts'
export {
  type Equity,
  FIRST_DEPOSIT_MIN,
  type MintProblem,
  mintProblem,
  SHARE,
  sharesFor,
  valueOfShares,
} from './shares.ts'
export {
  addVenueShares,
  burnShares,
  findPool,
  findPools,
  findPosition,
  findPositions,
  lockPool,
  mintShares,
  type PricePoint,
} from './store.ts'
