export { type Anchors, anchorsOf, checkAnchors } from './anchors.ts'
export {
  chainOf,
  isSolana,
  type Node,
  readVenues,
  spelled,
  type Venue,
} from './chain-reads.ts'
export { outcome, type ReserveCheck } from './check.ts'
export {
  anchoredFor,
  anchorText,
  inclusionProblem,
  isAmount,
  isOf,
  type LiabilityProof,
  micros,
  type NetworkSolvency,
  publishedFor,
  type ReserveAnchor,
  rootBy,
  usd,
} from './merkle-proof.ts'
