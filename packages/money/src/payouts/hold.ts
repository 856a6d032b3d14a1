import { HOUR, MINUTE, SECOND } from '@market/kernel/clock'

/** Why a payout waits, for people. The migration repeats the codes as a CHECK of `payouts.hold_code`. */
const SENTENCES = {
  not_compared: 'Outgoing transfers have not been compared with the chain since the database started',
  not_counted: 'The treasury balance has not been checked since the database started',
  providers_disagree: 'Fewer providers than required agree on the treasury balance',
  treasury_short: 'The treasury holds less USDC than it owes',
  payouts_frozen: 'Payouts are frozen on all networks',
  network_frozen: 'Payouts are frozen on this network',
  fee_above_cap: 'The network fee is above the cap',
  fee_balance_low: 'There is too little native coin to pay the network fee',
  contest_window: 'Its payer is not proven and can still contest it',
  contested: 'Two callers named the payment that funds it: its payer signs for one, or an arbiter decides',
  payment_not_final: 'The payment that funds it is not final yet',
  payout_cap: 'It is above the cap for one payout',
  payee_cap: 'It would exceed the cap of its payee for 24 hours',
  daily_cap: 'It would exceed the cap of its network for 24 hours',
  balance_low: 'The treasury has too little USDC',
  transfer_mismatch: 'The chain shows a transfer of this payout that does not match it',
  authorization_alive: 'What was signed before can still be executed',
  broadcast_error: 'The nodes rejected what was signed',
  no_address: 'It has no address to be paid to',
  below_account_minimum:
    'The payee has no USDC account, and the earnings are below the minimum for opening one',
  payee_account_closed: 'The payee has no open USDC account',
  below_minimum: 'It is below the minimum payout of its network, and is sent when that is lowered',
  gas_budget: 'The native coin for payouts of the last 24 hours is used up',
  not_funded: 'The ledger does not hold its amount for it',
  order_mismatch: 'It differs from what its order and payment require',
  new_address: 'Its address was set less than 24 hours ago, and the owner can still cancel it',
  screened: 'Its payee, or the payer of the money, is on a list of addresses that are not dealt with',
  screening_unavailable: 'The list of addresses that are not dealt with cannot be read',
  other: 'It waits for a reason that has no code',
} as const

export type HoldCode = keyof typeof SENTENCES

export const HOLD_CODES = Object.keys(SENTENCES) as HoldCode[]

/** Holds of payouts that nothing in the ledger or in their order justifies. Operators are alerted. */
export const UNJUSTIFIED: readonly HoldCode[] = ['not_funded', 'order_mismatch']

/** Holds that end by time, by the payee or by the payer, and what is too small. All others wait for an operator. */
const ENDS_WITHOUT_OPERATOR: readonly HoldCode[] = [
  'not_compared',
  'not_counted',
  'payment_not_final',
  'contest_window',
  'contested',
  'new_address',
  'below_account_minimum',
  'payee_account_closed',
  'below_minimum',
  'authorization_alive',
]

export const needsOperator = (code: HoldCode): boolean => !ENDS_WITHOUT_OPERATOR.includes(code)

/** What a signed payout may wait for and still be sent. With every other hold it is suspended: nothing replaces that hold. */
export const SENDABLE: readonly HoldCode[] = ['broadcast_error', 'payouts_frozen', 'network_frozen']

export const isSuspended = (code: HoldCode | null): boolean => code !== null && !SENDABLE.includes(code)

export interface Hold {
  readonly code: HoldCode
  /** The values behind the sentence: amounts, a reference, a time. */
  readonly detail?: string
}

export const describeHold = ({ code, detail }: Hold): string =>
  detail === undefined ? SENTENCES[code] : `${SENTENCES[code]}: ${detail}`

/** Money that another user may still claim waits until the time for that is over; a contested one for the decision. */
export function contestHold(
  { notBefore, contestedAt }: { readonly notBefore: Date | null; readonly contestedAt: Date | null },
  now: Date,
): Hold | undefined {
  if (contestedAt !== null) return { code: 'contested', detail: `since ${contestedAt.toISOString()}` }
  // fix: unbound-payout-waits
  if (notBefore === null || notBefore <= now) return undefined
  return { code: 'contest_window', detail: `until ${notBefore.toISOString()}` }
}

/** For what an operator or another payment must change. */
const LONG_MS = 30 * SECOND
/** For what ends without anyone's help within seconds, such as the comparison after a restart of the database. */
const SHORT_MS = 2 * SECOND

/** When a worker tries a payout again that waits for this; after `LONG_MS` where nothing is named. */
const RETRY_MS: Readonly<Partial<Record<HoldCode, number>>> = {
  not_compared: SHORT_MS,
  not_counted: SHORT_MS,
  providers_disagree: SHORT_MS,
  balance_low: SHORT_MS,
  broadcast_error: 1 * SECOND,
  new_address: SHORT_MS,
  screening_unavailable: SHORT_MS,
}

/**
 * Holds that can last for days: a payout that was held for longer is tried less often, so that thousands of them do not
 * delay the others. What ends such a hold earlier (an approval, an open account, a signature of the payer) makes the payout due at once.
 */
const LONGEST_MS: Readonly<Partial<Record<HoldCode, number>>> = {
  contest_window: 5 * MINUTE,
  contested: 1 * HOUR,
  new_address: 5 * MINUTE,
  payment_not_final: 5 * MINUTE,
  authorization_alive: 1 * MINUTE,
  balance_low: 1 * MINUTE,
  payout_cap: 5 * MINUTE,
  payee_cap: 5 * MINUTE,
  daily_cap: 5 * MINUTE,
  below_minimum: 1 * HOUR,
  gas_budget: 5 * MINUTE,
  below_account_minimum: 1 * HOUR,
  payee_account_closed: 1 * HOUR,
  screened: 1 * HOUR,
  screening_unavailable: 5 * MINUTE,
}

const TRIES_PER_AGE = 4

/** When a worker tries a payout again that has waited for this for `heldMs`. */
export const retryAfterMs = (code: HoldCode, heldMs: number): number =>
  Math.max(RETRY_MS[code] ?? LONG_MS, Math.min(LONGEST_MS[code] ?? 0, Math.floor(heldMs / TRIES_PER_AGE)))
