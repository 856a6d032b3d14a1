export type { Attempt, Refusal, Rules, Signed } from './action.ts'
export { advance } from './advance.ts'
export { findAttempts } from './store.ts'
