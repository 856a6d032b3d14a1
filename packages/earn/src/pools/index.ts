export { findPoolParts } from './find-parts.ts'
export { holderOf, recipientsOf } from './holder.ts'
export { listMarkets, type MarketView } from './list-markets.ts'
export { equityOf, listPools, type PoolView } from './list-pools.ts'
export { listPositions, type PositionView } from './list-positions.ts'
export { isConfiguredAs, openPools } from './open-pools.ts'
export type { EarnContext, PauseReason, Pool, PoolMoney, Position } from './pool.ts'
export { poolMetrics } from './pool-metrics.ts'
export { readPools, readVenue } from './read-pools.ts'
export { isCurrent } from './record-reading.ts'
export { requirePool } from './require-pool.ts'
export { revalue } from './revalue.ts'
export { riskOf } from './risk.ts'
export {
  type Equity,
  FIRST_DEPOSIT_MIN,
  type MintProblem,
  mintProblem,
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
} from './store.ts'
