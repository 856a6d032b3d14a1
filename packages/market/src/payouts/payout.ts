import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { PayoutOrder, SignedTransfer } from '../ports/rail.ts'

/**
 * `queued` → `numbered` → `signed` → `final` or `failed`; `held` while something must change before it is numbered.
 * Numbered means let through: it counts against the day's cap, has its nonce on EVM, and is stopped by nothing any more,
 * for a number that is never used blocks all later ones.
 */
export type PayoutState = 'queued' | 'held' | 'numbered' | 'signed' | 'final' | 'failed'

/** An agent's earnings, a buyer's money back, or what somebody paid too much. */
export type PayoutKind = 'payout' | 'refund' | 'surplus'

export type PayoutId = `pay_${string}`

export interface Payout {
  readonly id: PayoutId
  readonly network: Network
  readonly kind: PayoutKind
  readonly subject: string
  readonly payee: string
  readonly amount: Usdc
  readonly state: PayoutState
  readonly reason: string | null
  readonly nonce: bigint | null
  readonly finalReference: string | null
  readonly createdAt: Date
}

export interface StoredSignature extends SignedTransfer {
  readonly createdAt: Date
}

export const hasEnded = ({ state }: Payout): boolean => state === 'final' || state === 'failed'

export const isWaiting = ({ state }: Payout): boolean => state === 'queued' || state === 'held'

export const orderOf = ({ id, payee, amount }: Payout): PayoutOrder => ({ payoutId: id, to: payee, amount })
