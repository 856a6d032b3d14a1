export { type Disagreement, decideFinality } from './decide-finality.ts'
export { readNewBlocks } from './read-new-blocks.ts'
export { findFinalHeights } from './store.ts'
