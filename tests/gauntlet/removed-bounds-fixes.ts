import type { RemovedFix } from './removed-fix.ts'

/** What grows with the number of agents, and what is deleted after its time. */
export const BOUNDS_FIXES: readonly RemovedFix[] = [
  {
    finding: 'performance 3 two workers save a page of server wallets once',
    marker: 'wallet-page-once',
    test: 'tests/reserves/many-wallets.test.ts',
    title: 'are read with one call for 100 wallets',
  },
  {
    finding: 'performance 3 a day has no snapshot before its server wallets are read',
    marker: 'day-after-wallets',
    test: 'tests/reserves/agent-wallets.test.ts',
    title: 'until they are read, proofs continue',
  },
]
