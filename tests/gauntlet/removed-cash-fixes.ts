import type { RemovedFix } from './removed-fix.ts'

/** Of the money review: what the worker trusts, bounties, workspaces and reviews. */
export const CASH_FIXES: readonly RemovedFix[] = [
  {
    finding: 'cash a recovered payout counts by the rule of the caps',
    marker: 'recovered-counts-by-rule',
    to: 'true',
    test: 'tests/payouts/counters.test.ts',
    title: 'counts by the same rule',
  },
  {
    finding: 'cash no amount is fixed while a recall is under way',
    marker: 'burn-while-recalled',
    test: 'tests/earn/recall-value.test.ts',
    title: 'shares that a recall has redeemed do not count twice',
  },
  {
    finding: 'cash deposits get their shares before the next recall',
    marker: 'mint-before-recall',
    test: 'tests/earn/recall-value.test.ts',
    title: 'gets its shares before a withdrawal that waits',
  },
  {
    finding: 'cash 7 a deposit for another holder makes no destination',
    marker: 'payer-of-another-holder',
    to: 'true',
    test: 'tests/earn/stolen-api.test.ts',
    title: 'a deposit that a thief pays for a victim',
  },
  {
    finding: 'cash 7 a new address waits at the worker',
    marker: 'address-waits-at-worker',
    to: 'false',
    test: 'packages/identity/src/agents/payout/record-addresses.test.ts',
    title: 'an address that a row names later waits 24 hours',
  },
  {
    finding: 'cash 7 the worker notifies the owner of a new address',
    marker: 'worker-notifies-address',
    test: 'packages/identity/src/agents/payout/record-addresses.test.ts',
    title: 'an address that a row names later waits 24 hours',
  },
  {
    finding: 'cash 8 the 24 hours of a withdraw address are those of the worker',
    marker: 'withdraw-delay-of-worker',
    test: 'tests/wallets/policy.test.ts',
    title: 'cannot start the 24 hours of a withdraw address before the worker has notified the owner',
  },
  {
    finding: 'cash 8 the worker notifies the owner of a withdraw address',
    marker: 'worker-notifies-withdraw-address',
    test: 'tests/wallets/policy.test.ts',
    title: 'cannot start the 24 hours of a withdraw address before the worker has notified the owner',
  },
  {
    finding: 'cash C4 two providers are a warning in production',
    marker: 'warns-of-two-providers',
    to: '[]',
    test: 'tests/payouts/settings.test.ts',
    title: 'providers: production warns of a network with nodes of two providers',
  },
  {
    finding: 'cash C6 a workspace is settled by count',
    marker: 'settled-by-count',
    to: 'false',
    test: 'packages/work/src/workspaces/workspaces.test.ts',
    title: 'settled by count',
  },
  {
    finding: 'cash C6 a workspace in which everything failed is refunded',
    marker: 'failed-workspace-refunded',
    test: 'packages/work/src/workspaces/workspaces.test.ts',
    title: 'everything failed',
  },
  {
    finding: 'cash C6 a generation that the agent was not allowed to answer does not count as failed',
    marker: 'stopped-is-not-failed',
    to: '[]',
    test: 'packages/work/src/workspaces/contested.test.ts',
    title: 'a generation does not count as failed when the order was contested',
  },
  {
    finding: 'cash C7 a reversal of the payment takes the review away',
    marker: 'reversal-removes-review',
    test: 'packages/trade/src/orders/store.test.ts',
    title: 'loses its review and its rating',
  },
  {
    finding: 'cash C5 an owner has at most two pending claims',
    marker: 'claims-of-owner',
    to: 'false',
    test: 'tests/contract/claim-bounty.test.ts',
    title: '409 owner_claims_full',
  },
  {
    finding: 'cash C5 a rejected claim is not made again',
    marker: 'rejected-claim-stays',
    test: 'tests/contract/reject-claim.test.ts',
    title: '200: the claim is rejected with an event',
  },
]
