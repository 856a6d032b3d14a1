import { BOUNDS_FIXES } from './removed-bounds-fixes.ts'
import { CASH_FIXES } from './removed-cash-fixes.ts'
import { CONFIG_FIXES } from './removed-config-fixes.ts'
import { COST_FIXES } from './removed-cost-fixes.ts'
import type { RemovedFix } from './removed-fix.ts'
import { FOLLOWER_FIXES } from './removed-follower-fixes.ts'
import { IDENTITY_FIXES } from './removed-identity-fixes.ts'
import { LETTER_FIXES } from './removed-letter-fixes.ts'
import { LIMIT_FIXES } from './removed-limit-fixes.ts'
import { LOGIN_FIXES } from './removed-login-fixes.ts'
import { PAYER_FIXES } from './removed-payer-fixes.ts'
import { RESTORE_FIXES } from './removed-restore-fixes.ts'
import { STEPS_FIXES } from './removed-steps-fixes.ts'
import { WALLET_FIXES } from './removed-wallet-fixes.ts'
import { WHO_FIXES } from './removed-who-fixes.ts'

/** Of the money review: A1 to C5. */
const MONEY_FIXES: readonly RemovedFix[] = [
  {
    finding: 'A1 a payout needs its money in the ledger',
    marker: 'payout-funded',
    test: 'tests/payouts/forged.test.ts',
    title: 'queued: is held with not_funded',
  },
  {
    finding: 'A1 a payout goes where its order requires',
    marker: 'payout-payee',
    test: 'tests/journeys/operators-money.test.ts',
    title: 'unclaimed transfer: a refund whose payee was changed',
  },
  {
    finding: 'A1 a payout that nothing requires is held',
    marker: 'payout-required',
    to: 'undefined',
    test: 'tests/payouts/forged.test.ts',
    title: 'is held when no order, payment or approval requires it',
  },
  {
    finding: 'A1 the payouts of a transfer never exceed it',
    marker: 'transfer-not-exceeded',
    test: 'tests/payouts/forged.test.ts',
    title: 'is held when other payouts have used the payment',
  },
  {
    finding: 'A1 a transfer becomes final with the payer that was checked',
    marker: 'checked-payer-only',
    to: '!isSamePurpose(known.purpose, checked.purpose)',
    test: 'tests/payouts/forged.test.ts',
    title: 'a transfer whose payer was changed while the chain was asked',
  },
  {
    finding: 'A10 an approval that a row only names lifts no cap',
    marker: 'approval-of-this-payout',
    to: 'true',
    test: 'tests/payouts/caps.test.ts',
    title: 'payout_cap: an approval that the row only names',
  },
  {
    finding: 'A10 the cold address pays for nothing',
    marker: 'cold-address-pays-nothing',
    to: 'payer !== null && ownPayers.includes(payer)',
    test: 'tests/reserves/cold-address.test.ts',
    title: 'a transfer from the cold address pays for nothing',
  },
  {
    finding: 'A1 money in flight is that of the ledger',
    marker: 'in-flight-by-ledger',
    to: "tx.selectFrom('payouts').select(['id', 'round', 'amount_micros']).where('network', '=', network).where('state', '=', 'signed')",
    test: 'tests/payouts/forged.test.ts',
    title: 'signed: does not hide that the treasury is short',
  },
  {
    finding: 'A2 the payout of an unbound purchase waits',
    marker: 'unbound-payout-waits',
    to: 'true',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'payout: waits 7 days',
  },
  {
    finding: 'A2 another naming within 15 minutes contests the payment',
    marker: 'early-naming-contests',
    to: "'reject'",
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'contest: holds the order',
  },
  {
    finding: 'A2 an unsigned naming counts for 15 minutes only',
    marker: 'unsigned-naming-ends',
    to: '1_000 * MINUTE',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'contest: an unsigned naming 16 minutes',
  },
  {
    finding: 'A3 no account is opened below the minimum',
    marker: 'account-minimum',
    to: 'true',
    test: 'tests/payouts/token-account.test.ts',
    title: 'below_account_minimum: two payouts',
  },
  {
    finding: 'A3 no account is opened for a refund',
    marker: 'no-account-for-refund',
    test: 'tests/payouts/token-account.test.ts',
    title: 'payee_account_closed: a refund waits',
  },
  {
    finding: 'A4 money that returns to its payer uses no cap',
    marker: 'return-uses-no-cap',
    test: 'tests/payouts/caps.test.ts',
    title: 'daily_cap: eleven overpaid orders',
  },
  {
    finding: 'finality of ranges: one provider decides',
    marker: 'finality-of-ranges-by-two-providers',
    to: 'groups',
    test: 'tests/chains/evm-read-final.test.ts',
    title: 'one too few of two',
  },
  {
    finding: 'a receipt of a vault counts when its block is final',
    marker: 'receipt-is-final',
    to: 'true',
    test: 'tests/chains/venue-transactions.test.ts',
    title: 'observe: a step that a reorganization removed',
  },
  {
    finding: 'a replaced block says nothing about a payment that waits',
    marker: 'replaced-block-forgotten',
    to: 'undefined',
    test: 'tests/payments/intents.test.ts',
    title: 'checkIntents: asks about a payment whose block was replaced',
  },
  {
    finding: 'a payer that a caller named is checked before a transfer is final',
    marker: 'named-payer-is-verified',
    to: "seen.final ? 'final' : known.state",
    test: 'tests/payments/named-payer.test.ts',
    title: 'a transfer with a payer that a caller named',
  },
  {
    finding: 'A5 absence at one provider reverses nothing',
    marker: 'reversal-by-two-providers',
    to: '[agreed.length >= minProviders, absent.length >= 1]',
    test: 'tests/payments/providers.test.ts',
    title: 'one provider without the block',
  },
  {
    finding: 'A5 a reversed order waits for the same transfer',
    marker: 'reversed-order-waits',
    to: 'undo(order, now, reasonOf(now))',
    test: 'tests/orders/clock.test.ts',
    title: 'reorganization: the order waits an hour',
  },
  {
    finding: 'A6 unfinal money never counts as missing',
    marker: 'unfinal-is-not-missing',
    to: 'balances.ledger - returned - balances.inFlight - final',
    test: 'tests/reserves/providers.test.ts',
    title: 'reorganization',
  },
  {
    finding: 'A7 one provider makes nothing final',
    marker: 'finality-by-two-providers',
    to: '[agreed.length >= 1, absent.length >= minProviders]',
    test: 'tests/payments/providers.test.ts',
    title: 'two nodes of one provider',
  },
  {
    finding: 'A7 the balance is what two providers show',
    marker: 'balance-by-two-providers',
    to: 'amounts.toSorted((a, b) => (a > b ? -1 : 1))[0]',
    test: 'tests/reserves/providers.test.ts',
    title: 'the lower balance of two providers must cover the payout',
  },
  {
    finding: 'A8 each transfer of a transaction counts',
    marker: 'transfer-index',
    to: 'parseTransfers(logs, usdc).map(({ from, amount, log }) => ({ index: 0, payer: nullIfZero(from), amount, log }))',
    test: 'tests/x402/bundles.test.ts',
    title: 'orders: two buyers who paid in one transaction',
  },
  {
    finding: 'A8 a naming without a signature takes no other payer’s transfer',
    marker: 'ambiguous-payer-signs',
    test: 'tests/x402/bundles.test.ts',
    title: 'x402: bundled buyers sign',
  },
  {
    finding: 'A8 the signature reaches the purchase of another caller',
    marker: 'unbound-purchase-first',
    to: 'own.length === 0 ? done : own',
    test: 'tests/x402/bundles.test.ts',
    title: 'x402: of a wallet that paid twice',
  },
  {
    finding: 'A8 a transfer that was taken meanwhile is not the end of an intent',
    marker: 'another-transfer-counts',
    test: 'tests/x402/bundles.test.ts',
    title: 'orders: two orders that one buyer names before',
  },
  {
    finding: 'settlements: one whose nonce is used is signed again',
    marker: 'lost-nonce-signed-again',
    to: 'undefined',
    test: 'tests/x402/settlement-restore.test.ts',
    title: 'restore: of two settlements with one nonce',
  },
  {
    finding: 'A9 another operator must approve',
    marker: 'second-operator',
    test: 'tests/contract/approve-approval.test.ts',
    title: '403: the operator who proposed it',
  },
  {
    finding: 'A9 only deposits of the platform become revenue',
    marker: 'own-deposits-only',
    test: 'tests/contract/recognize-transfer.test.ts',
    title: '409: a transfer of a customer',
  },
  {
    finding: 'A9 one operator decides up to 500 USD',
    marker: 'one-operator-limit',
    to: 'usdc(500_000_000_000n)',
    test: 'tests/contract/resolve-dispute.test.ts',
    title: '409: an order above 500 USD',
  },
  {
    finding: 'A9 what moves money needs a recent login',
    marker: 'recent-login',
    to: "typeof age === 'number'",
    test: 'tests/contract/recognize-transfer.test.ts',
    title: '401: a login that is older',
  },
  {
    finding: 'A10 gas is estimated',
    marker: 'gas-estimate',
    to: 'GAS_PER_BATCH + GAS_PER_PAYOUT * BigInt(count)',
    test: 'tests/chains/evm-responses.test.ts',
    title: 'is the estimate with a margin',
  },
  {
    finding: 'A10 prices of the last hour are accepted',
    marker: 'recent-price',
    to: 'return amount < current ? undefined : current',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'price: one of the last hour',
  },
  {
    finding: 'A10 fees leave to known addresses only',
    marker: 'known-fee-address',
    to: 'payees',
    test: 'tests/journeys/operators-money.test.ts',
    title: 'fees: a withdrawal to an address that the worker does not know',
  },
  {
    finding: 'A10 a freeze stops signing again',
    marker: 'freeze-stops-signing',
    test: 'tests/payouts/solana.test.ts',
    title: 'expired signature: it is not signed again while payouts are frozen',
  },
  {
    finding: 'A10 a freeze stops submitting',
    marker: 'freeze-stops-submitting',
    test: 'tests/payouts/freeze-while-signing.test.ts',
    title: 'a batch that is signed while the switch is turned on',
  },
  {
    finding: 'another treasury signs nothing again',
    marker: 'one-treasury-signs',
    test: 'tests/payouts/recovery.test.ts',
    title: 'another treasury of the same network',
  },
  {
    finding: 'only what is stored is sent',
    marker: 'only-what-is-stored-is-sent',
    to: '!isWaiting(payout) && decided.set(candidate, payout)',
    test: 'tests/payouts/solana-two-workers.test.ts',
    title: 'only the transaction that is stored is sent',
  },
  {
    finding: 'of several steps of one payout only one sends',
    marker: 'one-step-is-sent',
    to: '[...decided].find(([one]) => one.payout.id === candidate.payout.id)?.[1]',
    test: 'tests/payouts/together.test.ts',
    title: 'of several steps of one payout only that is signed whose signature is stored',
  },
  {
    finding: 'a payout that can still be paid does not fail',
    marker: 'alive-is-held',
    to: 'end(rejection)',
    test: 'tests/payouts/payouts.test.ts',
    title: 'payee rejected after it was signed',
  },
  {
    finding: 'an authorization expires when a final block is later',
    marker: 'certain-expiry',
    to: 'newest === undefined || newest <= last.validTo',
    test: 'tests/chains/evm-payout-sender.test.ts',
    title: 'expired only by a final block',
  },
  {
    finding: 'B the stored verdict decides the shares',
    marker: 'stored-verdict',
    to: 'due',
    test: 'tests/orders/verdict.test.ts',
    title: 'reorganization: an arbiter’s split counts again',
  },
]

export const REMOVED_FIXES: readonly RemovedFix[] = [
  ...MONEY_FIXES,
  ...CASH_FIXES,
  ...IDENTITY_FIXES,
  ...CONFIG_FIXES,
  ...LOGIN_FIXES,
  ...PAYER_FIXES,
  ...LETTER_FIXES,
  ...FOLLOWER_FIXES,
  ...RESTORE_FIXES,
  ...LIMIT_FIXES,
  ...COST_FIXES,
  ...WHO_FIXES,
  ...STEPS_FIXES,
  ...BOUNDS_FIXES,
  ...WALLET_FIXES,
]
