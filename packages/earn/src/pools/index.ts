export { holderOf, recipientsOf } from './holder.ts'
export { listMarkets, type MarketView } from './list-markets.ts'
export { listHoldings, listPools, type PoolHolding, type PoolView } from './list-pools.ts'
export { afterLoss, bearLoss, requireWholeHistory } from './loss.ts'
export { isConfiguredAs, openPools } from './open-pools.ts'
export {
  depositProblem,
  type EarnContext,
  isEmpty,
  type MoneyContext,
  type PauseReason,
  type Pool,
  type Position,
  worthOf,
} from './pool.ts'
export { poolMetrics } from './pool-metrics.ts'
export { readPools, readVenue } from './read-pools.ts'
export { isCurrent, pricedReading } from './record-reading.ts'
export { requirePool } from './require-pool.ts'
export { riskOf } from './risk.ts'
export {
  divide,
  FIRST_DEPOSIT_MIN,
  firstRatio,
  type MintProblem,
  minted,
  mintProblem,
  type Ratio,
  ratioAfterLoss,
  recallParts,
  unredeemed,
  valueOfShares,
  valueOfVaultShares,
  vaultSharesOf,
} from './shares.ts'
export {
  addRecalled,
  findPool,
  findPools,
  findPosition,
  findPositions,
  lockPool,
  mintShares,
  queueShares,
  savePause,
  saveReading,
  saveVaultShares,
} from './store.ts'
