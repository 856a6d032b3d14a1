import { createHash } from 'node:crypto'
import type { PayoutRequest, SignedPayout } from '@market/core/ports/payout-sender'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { markOf } from '@market/kernel/payout-mark'
import type { Purpose, TransferKey } from '../payments/index.ts'
import type { HoldCode } from './hold.ts'
import type { PayoutState } from './states.ts'

/**
 * An agent's earnings, a buyer's refund, the surplus of a payment, fees of the platform, what the treasury need not
 * hold, a pool's money on its way to a venue, or what a depositor gets for burned shares.
 */
export type PayoutKind =
  | 'payout'
  | 'refund'
  | 'surplus'
  | 'fee_withdrawal'
  | 'move_to_cold'
  | 'move_to_venue'
  | 'earn_withdrawal'

/** What is left of a transfer: in suspense, because no purpose claimed it, or paid above the price. */
export interface Unmatched extends TransferKey {
  readonly from: 'suspense' | 'surplus'
}

export type PayoutId = `pay_${string}`

export interface Payout {
  readonly id: PayoutId
  readonly network: Network
  readonly kind: PayoutKind
  readonly subject: string
  /** The payment that funds it, which must be final before the payout is sent; null when there is none. */
  readonly purpose: Purpose | null
  /** What it returns without a purpose. */
  readonly unmatched: Unmatched | null
  /** Null while no address is known; then the payout has failed, and is retried with an address. */
  readonly payee: string | null
  readonly amount: Usdc
  readonly state: PayoutState
  /** Why it waits; always set while it is `held`. */
  readonly holdCode: HoldCode | null
  readonly holdDetail: string | null
  /** Why it is held, failed or withdrawn, as a sentence. */
  readonly reason: string | null
  /** A retry starts another round. Signatures of earlier rounds can no longer take effect. */
  readonly round: number
  /** EVM: which of its nonces it has (`markOf`). */
  readonly markRound: number
  readonly finalReference: string | null
  /** The agent whose earnings it pays; null for a refund and a surplus. */
  readonly agentId: AgentId | null
  /** The approval of operators that lets it exceed the caps; null without one. */
  readonly approvalId: string | null
  /** Since when it is signed, or known to be on the chain; null while it is neither. Counters count it in this hour. */
  readonly countedAt: Date | null
  /** False when no cap per day limits it. Decided when it is signed. */
  readonly countsAgainstCaps: boolean
  /** Whether it creates the payee's token account on Solana. Decided when it is signed. */
  readonly opensAccount: boolean
  /** The agent that receives an event when the payout ends; null when no agent does. */
  readonly notifiedAgent: AgentId | null
  /** It is not sent earlier, in any round. */
  readonly notBefore: Date | null
  /** Since when another caller claims the payment that funds it; null when it is not contested. */
  readonly contestedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const ID_LENGTH = 32

/**
 * The id is derived from what is paid, and the chain transaction contains it. If the row is lost and the payout is
 * requested again, its earlier transaction is found on the chain.
 */
export function payoutIdOf(kind: PayoutKind, subject: string): PayoutId {
  const digest = BigInt(`0x${createHash('sha256').update(`${kind}:${subject}`).digest('hex')}`)
  const text = (digest % 36n ** BigInt(ID_LENGTH)).toString(36)
  return `pay_${text.padStart(ID_LENGTH, '0')}`
}

export interface StoredSignature extends SignedPayout {
  readonly createdAt: Date
  /** Solana: whether the transaction pays other payouts too. */
  readonly isShared: boolean
}

export const hasEnded = ({ state }: Payout): boolean =>
  state === 'final' || state === 'failed' || state === 'withdrawn'

export const isWaiting = ({ state }: Pick<Payout, 'state'>): boolean => state === 'queued' || state === 'held'

export function senderRequestOf(payout: Payout): PayoutRequest {
  const { id, network, payee, amount, opensAccount } = payout
  assert(payee !== null, `${id} has a payee`)
  return { mark: markOf(network, payout), to: payee, amount, opensAccount }
}
