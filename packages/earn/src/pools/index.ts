export { agentOf, type Holder, holderOf, recipientsOf } from './holder.ts'
export type { EarnContext, PauseReason, Pool, PoolReading, Position } from './pool.ts'
export { isFresh } from './pool.ts'
export { revalue, type Valuation } from './revalue.ts'
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
