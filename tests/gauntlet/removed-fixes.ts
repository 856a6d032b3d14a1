/** A fix, the text that takes it out of a source file, and the test that must fail without it. */
export interface RemovedFix {
  /** Of the money review: A1 to C5. */
  readonly finding: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly test: string
  /** The start of the test's title. */
  readonly title: string
}

const PAYOUTS = 'packages/money/src/payouts'
const X402 = 'packages/trade/src/x402'

export const REMOVED_FIXES: readonly RemovedFix[] = [
  {
    finding: 'A1 a payout needs its money in the ledger',
    file: `${PAYOUTS}/funding-hold.ts`,
    from: 'if (reserved !== amount)',
    to: 'if (reserved < 0n)',
    test: 'tests/payouts/forged.test.ts',
    title: 'queued: is held with not_funded',
  },
  {
    finding: 'A1 a payout goes where its order requires',
    file: `${PAYOUTS}/funding-hold.ts`,
    from: 'if (!terms.payees.some((payee) => isSameAddress(payee, payout.payee)))',
    to: 'if (terms.payees.length < 0)',
    test: 'tests/journeys/operators-money.test.ts',
    title: 'unclaimed transfer: a refund whose payee was changed',
  },
  {
    finding: 'A1 money in flight is that of the ledger',
    file: `${PAYOUTS}/reports/store.ts`,
    from: 'account.balance_micros as amount_micros\n  from payouts as payout\n  join',
    to: 'payout.amount_micros\n  from payouts as payout\n  left join',
    test: 'tests/payouts/forged.test.ts',
    title: 'signed: does not hide that the treasury is short',
  },
  {
    finding: 'A2 the payout of an unbound purchase waits',
    file: `${PAYOUTS}/hold.ts`,
    from: 'if (notBefore === null || notBefore <= now) return undefined',
    to: 'if (notBefore !== undefined) return undefined',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'payout: waits 7 days',
  },
  {
    finding: 'A2 another naming within 15 minutes contests the payment',
    file: `${X402}/contest/rules.ts`,
    from: "other_early: 'contest',\n    other_late: 'ask_to_sign'",
    to: "other_early: 'reject',\n    other_late: 'ask_to_sign'",
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'contest: holds the order',
  },
  {
    finding: 'A2 an unsigned naming counts for 15 minutes only',
    file: `${X402}/contest/rules.ts`,
    from: 'const UNSIGNED_MS = 15 * MINUTE',
    to: 'const UNSIGNED_MS = 1_000 * MINUTE',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'contest: an unsigned naming 16 minutes',
  },
  {
    finding: 'A3 no account is opened below the minimum',
    file: `${PAYOUTS}/limits/token-account.ts`,
    from: '>= caps.accountMinimum) return { opens: true }',
    to: '>= 0n) return { opens: true }',
    test: 'tests/payouts/token-account.test.ts',
    title: 'below_account_minimum: two payouts',
  },
  {
    finding: 'A3 no account is opened for a refund',
    file: `${PAYOUTS}/limits/token-account.ts`,
    from: "if (kind !== 'payout' || agentId === null) return CLOSED",
    to: 'if (agentId === null) return { opens: true }',
    test: 'tests/payouts/token-account.test.ts',
    title: 'payee_account_closed: a refund waits',
  },
  {
    finding: 'A4 money that returns to its payer uses no cap',
    file: `${PAYOUTS}/limits/caps.ts`,
    from: 'if (await isReturnToPayer(tx, payout)) return { counts: false }',
    to: '',
    test: 'tests/payouts/caps.test.ts',
    title: 'daily_cap: eleven overpaid orders',
  },
  {
    finding: 'A5 absence at one provider reverses nothing',
    file: 'packages/chains/src/nodes/providers.ts',
    from: 'absent.length >= minProviders]',
    to: 'absent.length >= 1]',
    test: 'tests/payments/providers.test.ts',
    title: 'one provider without the block',
  },
  {
    finding: 'A5 a reversed order waits for the same transfer',
    file: 'packages/trade/src/orders/undo-payment.ts',
    from: 'const waiting = undo(order, now, reasonOf(now), { network, reference })',
    to: 'const waiting = undo(order, now, reasonOf(now))',
    test: 'tests/orders/clock.test.ts',
    title: 'reorganization: the order waits an hour',
  },
  {
    finding: 'A6 unfinal money never counts as missing',
    file: 'packages/money/src/reserves/snapshot.ts',
    from: 'before.ledger - before.unfinal - settledMeanwhile',
    to: 'before.ledger - settledMeanwhile',
    test: 'tests/reserves/providers.test.ts',
    title: 'reorganization',
  },
  {
    finding: 'A7 one provider makes nothing final',
    file: 'packages/chains/src/nodes/providers.ts',
    from: 'agreed.length >= minProviders,',
    to: 'agreed.length >= 1,',
    test: 'tests/payments/providers.test.ts',
    title: 'a transfer that only one provider shows',
  },
  {
    finding: 'A7 the balance is what two providers show',
    file: 'packages/chains/src/nodes/providers.ts',
    from: ')[providers - 1]',
    to: ')[0]',
    test: 'tests/reserves/providers.test.ts',
    title: 'one provider shows too much',
  },
  {
    finding: 'A9 another operator must approve',
    file: 'packages/core/src/approvals/decide.ts',
    from: 'if (approver === pending.proposer)',
    to: 'if (approver === undefined)',
    test: 'tests/contract/approve-approval.test.ts',
    title: '403: the operator who proposed it',
  },
  {
    finding: 'A9 only deposits of the platform become revenue',
    file: `${PAYOUTS}/refund-transfer.ts`,
    from: 'if (payer === null || !ownWallets.includes(payer))',
    to: 'if (payer === null)',
    test: 'tests/contract/recognize-transfer.test.ts',
    title: '409: a transfer of a customer',
  },
  {
    finding: 'A9 one operator decides up to 500 USD',
    file: 'packages/trade/src/orders/resolve-dispute.ts',
    from: 'const ONE_OPERATOR_UP_TO = usdc(500_000_000n)',
    to: 'const ONE_OPERATOR_UP_TO = usdc(500_000_000_000n)',
    test: 'tests/contract/resolve-dispute.test.ts',
    title: '409: an order above 500 USD',
  },
  {
    finding: 'A9 what moves money needs a recent login',
    file: 'packages/handlers/src/authorize.ts',
    from: 'age <= RECENT_LOGIN_SECONDS',
    to: 'age >= 0',
    test: 'tests/contract/recognize-transfer.test.ts',
    title: '401: a login that is older',
  },
  {
    finding: 'A10 gas is estimated',
    file: 'packages/chains/src/evm/estimate-gas.ts',
    from: 'return largest([TRANSFER_GAS, needed])',
    to: 'return TRANSFER_GAS',
    test: 'tests/chains/evm-responses.test.ts',
    title: 'is the estimate with a margin',
  },
  {
    finding: 'A10 prices of the last hour are accepted',
    file: `${X402}/contest/rules.ts`,
    from: 'if (amount === current || recent.includes(amount)) return amount',
    to: 'if (amount === current) return amount\n  if (amount < current) return undefined',
    test: 'tests/x402/unbound-proofs.test.ts',
    title: 'price: one of the last hour',
  },
  {
    finding: 'A10 fees leave to known addresses only',
    file: `${PAYOUTS}/terms.ts`,
    from: 'payees: payees.filter((payee) => allowed[approved.network].some((one) => isSameAddress(one, payee))),',
    to: 'payees,',
    test: 'tests/journeys/operators-money.test.ts',
    title: 'fees: a withdrawal to an address that the worker does not know',
  },
  {
    finding: 'A10 a freeze stops signing again',
    file: `${PAYOUTS}/sign-payout.ts`,
    from: 'if (nonce === null) await rejectWhileStopped(tx, payoutSwitches(network))',
    to: 'if (nonce === undefined) await rejectWhileStopped(tx, payoutSwitches(network))',
    test: 'tests/payouts/solana.test.ts',
    title: 'expired signature: it is not signed again while payouts are frozen',
  },
  {
    finding: 'B the stored verdict decides the shares',
    file: 'packages/trade/src/orders/order-money.ts',
    from: 'return BigInt(agentShareBps)',
    to: 'return 10_000n',
    test: 'tests/orders/verdict.test.ts',
    title: 'reorganization: an arbiter’s split counts again',
  },
]
