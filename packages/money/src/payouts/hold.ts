import { SECOND } from '@market/kernel/clock'

/** Why a payout waits, for people. The migration repeats the codes as a CHECK of `payouts.hold_code`. */
const SENTENCES = {
  not_compared: 'Outgoing transfers have not been compared with the chain since the database started',
  not_counted: 'The treasury balance has not been checked since the database started',
  treasury_short: 'The treasury holds less USDC than it owes',
  payouts_frozen: 'Payouts are frozen on all networks',
  network_frozen: 'Payouts are frozen on this network',
  fee_above_cap: 'The network fee is above the cap',
  fee_balance_low: 'The treasury has too little native coin to pay the network fee',
  not_before: 'It may not be sent yet',
  payment_not_final: 'The payment that funds it is not final yet',
  payout_cap: 'It is above the cap for one payout',
  daily_cap: 'It would exceed the cap for 24 hours',
  balance_low: 'The treasury has too little USDC',
  history_unread: 'Earlier transfers of the treasury are still being read',
  nonce_mismatch: 'The chain counts other transactions of the treasury than the ledger',
  transfer_mismatch: 'The chain shows a transfer of this payout that does not match it',
  nonce_reserved: 'It was paid with a nonce that is still assigned to another payout',
  nonce_used: 'Another transaction of the treasury used its nonce',
  broadcast_error: 'The nodes rejected the signed transaction',
  no_address: 'It has no address to be paid to',
  other: 'It waits for a reason that has no code',
} as const

export type HoldCode = keyof typeof SENTENCES

export const HOLD_CODES = Object.keys(SENTENCES) as HoldCode[]

export interface Hold {
  readonly code: HoldCode
  /** The values behind the sentence: amounts, a reference, a time. */
  readonly detail?: string
}

export const describeHold = ({ code, detail }: Hold): string =>
  detail === undefined ? SENTENCES[code] : `${SENTENCES[code]}: ${detail}`

/** For what an operator or another payment must change. */
const LONG_MS = 30 * SECOND
/** For what ends without anyone's help within seconds, such as the comparison after a restart of the database. */
const SHORT_MS = 2 * SECOND

/** When a worker tries a payout again that waits for this. */
export const RETRY_MS: Readonly<Record<HoldCode, number>> = {
  not_compared: SHORT_MS,
  not_counted: SHORT_MS,
  treasury_short: LONG_MS,
  payouts_frozen: LONG_MS,
  network_frozen: LONG_MS,
  fee_above_cap: LONG_MS,
  fee_balance_low: LONG_MS,
  not_before: LONG_MS,
  payment_not_final: SHORT_MS,
  payout_cap: LONG_MS,
  daily_cap: LONG_MS,
  balance_low: SHORT_MS,
  history_unread: SHORT_MS,
  nonce_mismatch: LONG_MS,
  transfer_mismatch: LONG_MS,
  nonce_reserved: SHORT_MS,
  nonce_used: SHORT_MS,
  broadcast_error: 1 * SECOND,
  no_address: LONG_MS,
  other: LONG_MS,
}
