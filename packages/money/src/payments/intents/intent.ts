import type { Needs } from '@market/core/context'
import type { Depth, IncomingTransfer } from '@market/core/ports/chain'
import type { Settlement, SignedPayment } from '@market/core/ports/facilitator'
import type { Tx } from '@market/database/transact'
import { HOUR, later } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { PurposeKind } from '../purpose.ts'
import type { ClaimedTransfer } from '../transfer.ts'

/** What an intent is for. A `purchase` places its order when the payment is confirmed, and the transfer then pays for that. */
export type IntentKind = PurposeKind | 'purchase'

export interface IntentPurpose {
  readonly kind: IntentKind
  readonly id: string
}

/** A payment that the buyer signed and we submit. */
export interface Submission {
  readonly payment: SignedPayment
  /** The authorization or message, which can be executed once. */
  readonly proof: string | null
  /** Bytes are null when we do not submit it again and only observe whether a transaction executes it. */
  readonly settlement: Omit<Settlement, 'bytes'> & { readonly bytes: string | null }
}

/** A payment that something waits for: a transfer that a buyer named, or a payment that we submit. */
export interface Intent {
  readonly id: `int_${string}`
  readonly purpose: IntentPurpose
  readonly network: Network
  /** The transaction that was named or submitted. */
  readonly reference: string
  /** The wallets that may have paid; null when any may. */
  readonly payers: readonly string[] | null
  readonly due: Usdc
  readonly notBefore: Date
  readonly since: Date
  readonly submission: Submission | null
  /** How deep the transfer was when it was last checked; null while no block has it. */
  readonly depth: Depth | null
}

/**
 * `waiting` until the transfer is confirmed; from then on `transfers.state` says whether it is final or was reversed.
 * `refunded`: it was confirmed too late, and is refunded.
 */
export type IntentStatus = 'waiting' | ConfirmedAs | 'failed' | 'expired'

/** What a confirmed transfer led to; `cancelled` when nothing waits for it any more. */
export type ConfirmedAs = 'confirmed' | 'refunded' | 'cancelled'

/** Why a payment failed. `message` is shown to the buyer of an order; for a submitted payment it is the code. */
export interface Failure {
  readonly status: 'failed' | 'expired'
  readonly code: string
  readonly message: string
}

type HandlerContext = Needs<'clock' | 'ids' | 'chains' | 'vault'>

/**
 * What a confirmed or failed payment means for what it is for. Both run in the transaction that ends the intent. They lock
 * the order or purchase and check that it still waits for this payment.
 */
export interface IntentHandler {
  /** An `ApiError` means that this transfer cannot pay; the intent fails with it. */
  readonly onConfirmed: (
    ctx: HandlerContext,
    tx: Tx,
    intent: Intent,
    transfer: IncomingTransfer,
  ) => Promise<ConfirmedAs>
  readonly onFailed: (ctx: HandlerContext, tx: Tx, intent: Intent, failure: Failure) => Promise<void>
}

/**
 * Runs when the chain reverses a payment, in the same transaction and before the money leaves the ledger: the handler
 * first returns to escrow what was moved on from there.
 */
export interface ReversalHandler<Kind extends PurposeKind> {
  readonly onReversed: (ctx: Needs<'clock' | 'ids'>, tx: Tx, transfer: ClaimedTransfer<Kind>) => Promise<void>
}

/** One entry per purpose: implemented by the module that owns it, registered by the worker. */
export type Purposes = { readonly [Kind in PurposeKind]: IntentHandler & ReversalHandler<Kind> } & {
  readonly purchase: IntentHandler
}

/** The least amount that a transfer has. */
export const ANY_AMOUNT = usdc(1n)

const AWAITED_MS = 1 * HOUR

/** A named transfer that no node shows until then was never sent, or a reorganization dropped it for good. */
export const awaitedUntil = (since: Date): Date => later(since, AWAITED_MS)
