import { DAY, HOUR, MINUTE } from '@market/kernel/clock'
import { type Usdc, ZERO } from '@market/kernel/money'
import type { NamedStatus } from '../../orders/index.ts'

/**
 * What happens when a transfer is named that bought something before. Anybody can read a transaction hash, so a caller
 * who only names one may not be the payer. Pure rules; `name-again.ts` applies them.
 */

/** A naming of a transfer that is already used: the same content or another, with or without the payer's signature. */
export type NamingEvent =
  | 'same'
  /** The purchase had an Idempotency-Key and the request lacks it. */
  | 'same_without_key'
  | 'same_signed'
  | 'other_early'
  | 'other_late'
  | 'other_signed'

export type NamingOutcome =
  /** Returns the purchase again. */
  | 'replay'
  /** The payer signed for the purchase: its payout waits no longer. */
  | 'confirm'
  /** Records the naming and holds the payout. */
  | 'contest'
  /** The payer signed for something else: that is bought, and the earlier purchase ends. */
  | 'replace'
  /** Rejects; the payer can still sign. */
  | 'ask_to_sign'
  | 'reject_contested'
  | 'reject'

export const NAMINGS = {
  unbound: {
    same: 'replay',
    same_without_key: 'reject',
    same_signed: 'confirm',
    // fix: early-naming-contests
    other_early: 'contest',
    other_late: 'ask_to_sign',
    other_signed: 'replace',
  },
  contested: {
    same: 'replay',
    same_without_key: 'reject',
    same_signed: 'confirm',
    other_early: 'contest',
    other_late: 'reject_contested',
    other_signed: 'replace',
  },
  // Proven by a reference, a signature or an arbiter.
  bound: {
    same: 'replay',
    same_without_key: 'reject',
    same_signed: 'replay',
    other_early: 'reject',
    other_late: 'reject',
    other_signed: 'reject',
  },
  // Paid out, refunded or reversed.
  ended: {
    same: 'replay',
    same_without_key: 'reject',
    same_signed: 'replay',
    other_early: 'reject',
    other_late: 'reject',
    other_signed: 'reject',
  },
} as const satisfies Readonly<Record<NamedStatus, Readonly<Record<NamingEvent, NamingOutcome>>>>

/** How long after the block's time a naming without a signature counts. */
// fix: unsigned-naming-ends
const UNSIGNED_MS = 15 * MINUTE

export function eventOf(naming: {
  readonly isSame: boolean
  readonly hasKey: boolean
  readonly isSigned: boolean
  /** The time since the block of the transfer. */
  readonly ageMs: number
}): NamingEvent {
  if (naming.isSame) return naming.isSigned ? 'same_signed' : naming.hasKey ? 'same' : 'same_without_key'
  if (naming.isSigned) return 'other_signed'
  return naming.ageMs <= UNSIGNED_MS ? 'other_early' : 'other_late'
}

const SHORT_WAIT_MS = 24 * HOUR
const LONG_WAIT_MS = 7 * DAY
/** A seller with completed orders of so many payers waits less for small amounts. */
export const TRUSTED_PAYERS = 3

/** How long the payout of an unbound purchase waits. */
export const payoutWaitMs = (due: Usdc, payers: number, shortWaitMax: Usdc): number =>
  payers >= TRUSTED_PAYERS && due <= shortWaitMax ? SHORT_WAIT_MS : LONG_WAIT_MS

/**
 * The amount due for a transfer: a price of the last hour that it has exactly, else the current price, else the highest
 * one that it reaches. Undefined when it reaches none.
 */
// fix: recent-price
export function chooseDue(amount: Usdc, current: Usdc, recent: readonly Usdc[]): Usdc | undefined {
  if (amount === current || recent.includes(amount)) return amount
  if (amount > current) return current
  const highest = recent.filter((due) => due <= amount).reduce((a, b) => (a > b ? a : b), ZERO)
  return highest === ZERO ? undefined : highest
}
