export type { Attempt, Known, Refusal, Rules, Signed } from './action.ts'
export { advance, isStill } from './advance.ts'
export { knowsAllSent, SEARCHED_MS } from './compare.ts'
export { findAttempts, isSignedHere } from './store.ts'
