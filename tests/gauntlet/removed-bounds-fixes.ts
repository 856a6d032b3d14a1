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
  {
    finding: 'performance 4 what is too old is deleted until nothing is left',
    marker: 'retention-until-done',
    to: 'deleted < BATCH || all === 100 * BATCH',
    test: 'packages/jobs/src/retention.test.ts',
    title: 'after ten times the load of an hour nothing is overdue',
  },
  {
    finding: 'performance 4 unused uploads are deleted until none is left',
    marker: 'uploads-until-done',
    to: 'ids.length < BATCH || deleted === 20 * BATCH',
    test: 'packages/files/src/uploads/uploads.test.ts',
    title: 'deletes all that is unused in one run',
  },
  {
    finding: 'performance: growth, several workers apply different transitions',
    marker: 'due-skips-locked',
    to: "await tx.selectFrom('orders').selectAll().where('due_at', '<=', now).orderBy('due_at').orderBy('id').limit(1).forUpdate().executeTakeFirst()",
    test: 'tests/orders/clock.test.ts',
    title: 'an order that another worker has locked is left to it',
  },
]
