import type { RemovedFix } from './removed-fix.ts'

/** The fixes of who may use a transfer, and what a repeated request returns. */
export const PAYER_FIXES: readonly RemovedFix[] = [
  {
    finding: 'payer 1 the payer decides also while a delivery is reviewed',
    marker: 'contested-while-reviewed',
    to: "['disputed', 'completed']",
    test: 'tests/x402/contested-principal.test.ts',
    title:
      'the payer of an order that another caller placed can sign for something else while it is delivered',
  },
  {
    finding: 'payer 2 a transfer of the owner does not prove that the owner paid',
    marker: 'owner-not-proven',
    to: 'order',
    test: 'tests/orders/owner-payments.test.ts',
    title: '200: an agent pays from the wallet of its owner with its API key',
  },
  {
    finding: 'payer 2 the owner takes back a transfer that an API key used',
    marker: 'owner-takes-back',
    to: "'unchanged'",
    test: 'tests/orders/owner-payments.test.ts',
    title: '200: an owner takes back a transfer',
  },
  {
    finding: 'payer 3 a repeated registration returns no later key',
    marker: 'no-later-key',
    to: '!isReplay || (isProven && isRecent(ctx, purchase))',
    test: 'tests/x402/register.test.ts',
    title: 'a repeated registration returns no key that replaced the first one',
  },
  {
    finding: 'buyer events 1 a smart wallet reads no events of another holder of its address',
    marker: 'own-events-only',
    to: 'true',
    test: 'tests/orders/smart-wallet-networks.test.ts',
    title: 'events: returns those of its own orders',
  },
  {
    finding: 'buyer events 2 a refund locks the counter of the buyer before its row',
    marker: 'refund-locks-counter',
    test: 'tests/payouts/refund-event.test.ts',
    title: 'the counter of the buyer is locked before the row of the refund',
  },
  {
    finding: 'buyer events 3 a reversal locks the counter of the buyer before shared rows',
    marker: 'reversal-locks-counter',
    test: 'tests/orders/buyer-events.test.ts',
    title: 'reversals beside payments of the same buyer and listing: no deadlock',
  },
  {
    finding: 'payer 4 a contested workspace with completed generations waits for an arbiter',
    marker: 'delivered-in-part',
    to: 'WAS_DELIVERED.includes(order.status)',
    test: 'packages/work/src/workspaces/contested.test.ts',
    title: 'a contested workspace waits for an arbiter when generations were completed',
  },
  {
    finding: 'payer 6 an order that waits for a signed payment is not paid twice',
    marker: 'one-submission',
    test: 'tests/orders/signed-payment.test.ts',
    title: 'not mined within the wait: 202, no second payment',
  },
  {
    finding: 'payer 6 a signed payment that a reorganization dropped is not paid a second time',
    marker: 'one-charge',
    test: 'tests/orders/signed-payment-crash.test.ts',
    title: 'reorganization: a second signed payment is 409',
  },
  {
    finding: 'payer 6 an order whose dropped authorization expired can be paid again',
    marker: 'reversed-submission-ends',
    test: 'tests/orders/signed-payment-crash.test.ts',
    title: 'reorganization: once the dropped authorization has expired',
  },
  {
    finding: 'payer 5 a rating needs a payment that nobody can take back',
    marker: 'safe-payment-rated',
    test: 'packages/trade/src/reviews/reviews.test.ts',
    title: 'returns payer_not_proven while the payment can be contested',
  },
]
