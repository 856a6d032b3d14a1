import type { RemovedFix } from './removed-fix.ts'

/** What one request may cost everybody else. */
export const COST_FIXES: readonly RemovedFix[] = [
  {
    finding: 'security 1 a list of a tool reads little more than it returns',
    marker: 'parts-of-lists',
    test: 'tests/mcp/result-budget.test.ts',
    title: 'whose rows fill the result reads one part',
  },
  {
    finding: 'security 3 streams count by network',
    marker: 'streams-of-networks',
    test: 'packages/handlers/src/event-streams.test.ts',
    title: 'returns 429 for the 61st stream of an address',
  },
  {
    finding: 'engine 1 a sweep that fails keeps its interval',
    marker: 'failed-sweep-keeps-interval',
    to: 'run(ctx, log)',
    test: 'packages/jobs/src/sweeps.test.ts',
    title: 'a sweep that fails is counted and logged',
  },
  {
    finding: 'engine 2 a worker that starts runs sweeps that a failure delayed',
    marker: 'delayed-sweeps-start',
    test: 'packages/core/src/queue/queue.test.ts',
    title: 'makes a sweep due that a failure delayed',
  },
  {
    finding: 'money 2 nothing below the minimum payout is signed',
    marker: 'minimum-payout',
    test: 'tests/payouts/held.test.ts',
    title: 'below_minimum: asks no node',
  },
  {
    finding: 'money 2 unmatched money below the minimum payout is not refunded',
    marker: 'minimum-refund',
    test: 'tests/payouts/refunds.test.ts',
    title: 'refund: money below the minimum payout',
  },
  {
    finding: 'money 2 a withdrawal from Earn is worth at least 1 USD',
    marker: 'smallest-withdrawal',
    to: 'true',
    test: 'packages/earn/src/withdrawals/withdrawal.test.ts',
    title: 'isWithdrawable: ',
  },
  {
    finding: 'money 2 a part of a withdrawal leaves a rest that can be paid',
    marker: 'part-leaves-payable-rest',
    to: 'unpaid',
    test: 'packages/earn/src/withdrawals/withdrawal.test.ts',
    title: 'partOf: a rest that cannot be paid',
  },
  {
    finding: 'money 2 a deposit below the minimum payout is not refunded',
    marker: 'small-deposit-stays',
    test: 'tests/earn/minimum.test.ts',
    title: 'after 30 days a deposit',
  },
  {
    finding: 'money 2 a move to a venue is at least 1 USD',
    marker: 'smallest-move',
    test: 'tests/earn/minimum.test.ts',
    title: 'deposits of less than 1 USD',
  },
  {
    finding: 'money 2 a rest that cannot be withdrawn keeps no account',
    marker: 'dust-is-no-money',
    to: 'true',
    test: 'packages/earn/src/pools/has-money.test.ts',
    title: 'a rest below the minimum payout is none',
  },
  {
    finding: 'money 2 a payout below the minimum keeps no account',
    marker: 'small-payout-keeps-no-account',
    to: 'sql`false`',
    test: 'tests/contract/delete-profile.test.ts',
    title: 'held below the minimum stays owed to its address',
  },
  {
    finding: 'money 2 the seller of the cheapest order is paid',
    marker: 'seller-share-is-paid',
    test: 'tests/chains/api-settings.test.ts',
    title: 'the seller of the cheapest order',
  },
]
