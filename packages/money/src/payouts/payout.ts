import { createHash } from 'node:crypto'
import type { PayoutRequest, SignedTransfer } from '@market/core/ports/payout-sender'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Purpose } from '../payments/index.ts'

/**
 * `queued` → `numbered` → `signed` → `final` or `failed`; `held` while something must change before it is numbered.
 * Numbered means let through: it counts against the day's cap, has its nonce on EVM, and is stopped by nothing any more,
 * for a number that is never used blocks all later ones. `withdrawn`: its reason was undone before it was let through.
 */
export type PayoutState = 'queued' | 'held' | 'numbered' | 'signed' | 'final' | 'failed' | 'withdrawn'

/** An agent's earnings, a buyer's money back, or what somebody paid too much. */
export type PayoutKind = 'payout' | 'refund' | 'surplus'

export type PayoutId = `pay_${string}`

export interface Payout {
  readonly id: PayoutId
  readonly network: Network
  readonly kind: PayoutKind
  readonly subject: string
  /** The payment it is paid from, which must be final before it leaves; null when there is none. */
  readonly purpose: Purpose | null
  /** Null while nobody knows where to pay it; then it has failed, and is tried again with an address. */
  readonly payee: string | null
  readonly amount: Usdc
  readonly state: PayoutState
  readonly reason: string | null
  readonly nonce: bigint | null
  /** A payout that is tried again begins another round; what was signed in earlier ones can no longer take effect. */
  readonly round: number
  readonly finalReference: string | null
  /** The agent that is told by an event how it ended; null when nobody is. */
  readonly toldAgent: AgentId | null
  /** It leaves no earlier, in whichever round. */
  readonly notBefore: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Why a payout waits as failed until somebody says where to pay it. */
export const NO_ADDRESS = 'There is no address to pay it to'

const ID_LENGTH = 32

/**
 * The id follows from what is paid and travels with the payment: whoever lost the row and is asked for it again finds
 * on the chain that it was paid.
 */
export function payoutIdOf(kind: PayoutKind, subject: string): PayoutId {
  const digest = BigInt(`0x${createHash('sha256').update(`${kind}:${subject}`).digest('hex')}`)
  const text = (digest % 36n ** BigInt(ID_LENGTH)).toString(36)
  return `pay_${text.padStart(ID_LENGTH, '0')}`
}

export interface StoredSignature extends SignedTransfer {
  readonly createdAt: Date
}

export const hasEnded = ({ state }: Payout): boolean =>
  state === 'final' || state === 'failed' || state === 'withdrawn'

export const isWaiting = ({ state }: Payout): boolean => state === 'queued' || state === 'held'

export function orderOf({ id, payee, amount }: Payout): PayoutRequest {
  assert(payee !== null, `${id} is paid to somebody`)
  return { payoutId: id, to: payee, amount }
}
