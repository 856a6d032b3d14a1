import type { RemovedFix } from './removed-fix.ts'

const LOST = 'tests/payouts/lost-authorization.test.ts'
const DECISIONS = 'tests/x402/lost-payouts.test.ts'

/** Of what an earlier database epoch signed on EVM and others can still submit. */
export const RESTORE_FIXES: readonly RemovedFix[] = [
  {
    finding: 'restore a new epoch opens a window',
    marker: 'epoch-opens-window',
    test: LOST,
    title: 'its refund waits for authorization_alive',
  },
  {
    finding: 'restore what takes the place of a lost payout waits',
    marker: 'replacement-waits',
    test: LOST,
    title: 'its refund waits for authorization_alive',
  },
  {
    finding: 'restore a payout that another caller could contest waits',
    marker: 'contestable-waits',
    test: LOST,
    title: 'a payout waits when another caller could still get its payment',
  },
  {
    finding: 'restore a payout of a payment that was claimed again waits',
    marker: 'late-claim-waits',
    to: 'false',
    test: LOST,
    title: 'a payout waits when its payment was made before the restore and claimed after it',
  },
  {
    finding: 'restore the window ends in a final block',
    marker: 'window-ends-in-final-block',
    test: LOST,
    title: 'its refund is paid when a final block is past the end',
  },
  {
    finding: 'restore a payment that the database does not know extends the window',
    marker: 'unknown-payment-extends-window',
    test: LOST,
    title: 'its refund waits for authorization_alive',
  },
  {
    finding: 'restore a freeze is complete after the window',
    marker: 'lost-counts-for-freeze',
    test: LOST,
    title: 'complete_at: not before what a lost database signed has expired',
  },
  {
    finding: 'restore a proof decides after the window',
    marker: 'proof-waits',
    test: DECISIONS,
    title: 'the payer’s signature decides nothing',
  },
  {
    finding: 'restore a payment is reassigned after the window',
    marker: 'reassignment-waits',
    test: DECISIONS,
    title: 'the payer’s signature decides nothing',
  },
  {
    finding: 'restore a registration is reassigned after the window',
    marker: 'registration-waits',
    test: DECISIONS,
    title: 'a registration stays as it is',
  },
  {
    finding: 'restore an arbiter decides after the window',
    marker: 'arbiter-waits',
    test: DECISIONS,
    title: 'an arbiter decides a contest',
  },
  {
    finding: 'restore a move to a venue is withdrawn after the window',
    marker: 'venue-waits',
    test: 'tests/earn/returns.test.ts',
    title: 'a failed payout to the wallet ends the move after',
  },
]
