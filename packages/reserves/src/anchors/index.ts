export { anchorAgeMs, anchorReserves, signAnchors } from './anchor-reserves.ts'
export { listAnchors } from './list-anchors.ts'
export type { ListedAnchor } from './store.ts'
