import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** One payment out, decided and written down before it is signed. */
export interface PayoutOrder {
  /** Travels with the payment: in the memo on Solana, after the call's arguments on EVM. */
  readonly payoutId: string
  readonly to: string
  readonly amount: Usdc
}

/** Bytes that can be sent any number of times and take effect at most once. Stored before they are sent. */
export interface SignedTransfer {
  /** The transaction's hash or signature: known before it is sent. */
  readonly reference: string
  readonly bytes: string
  /** EVM: the payout's own nonce, for ever. Solana: null. */
  readonly nonce: bigint | null
  /** Solana: the height after which these bytes can no longer take effect. EVM: null. */
  readonly lastValidHeight: bigint | null
  /** EVM: what a replacement must exceed by 12.5 %. Solana: null. */
  readonly maxFeePerGas: bigint | null
  readonly maxPriorityFeePerGas: bigint | null
}

/** Of a failure: the bytes are void because something else used their nonce. The payment can be made with another one. */
export const NONCE_USED_BY_ANOTHER = 'nonce used by another transaction'

export type SentOutcome =
  /** Nothing seen; the bytes may still take effect. Send them again. */
  | { readonly kind: 'unknown' }
  /** In a block that may still go away. */
  | { readonly kind: 'seen'; readonly reference: string }
  /** In a block that stays. */
  | { readonly kind: 'final'; readonly reference: string }
  /** In a block that stays, without effect. */
  | { readonly kind: 'failed'; readonly reference: string; readonly why: string }
  /** None of the bytes can take effect any more, and none did. Only now may others be signed. */
  | { readonly kind: 'expired' }

/** Moves the treasury's money on one network. Only the worker holds one. */
export interface PayoutSender {
  readonly network: Network
  readonly treasury: string
  /** Why this payment can never succeed (a blocked or impossible payee), or undefined. */
  rejectionReason(order: PayoutOrder): Promise<string | undefined>
  /**
   * EVM: the treasury account's next nonce as the chain counts, and with what waits to be mined; the highest that any
   * node tells. Solana: null.
   */
  nonces(): Promise<{ readonly next: bigint; readonly pending: bigint } | null>
  /** EVM: the same as of the newest final block, the lowest that any node tells. Solana: null. */
  finalNonce(): Promise<bigint | null>
  /** Signs. `before` are earlier signatures of the same payout: on EVM the new one replaces them at their nonce. */
  sign(order: PayoutOrder, nonce: bigint | null, before: readonly SignedTransfer[]): Promise<SignedTransfer>
  /** Hands the bytes to the network. Any error means that the outcome is unknown, never that nothing happened. */
  send(signed: SignedTransfer): Promise<void>
  /** What became of the payment, over all its signatures. */
  look(signed: readonly SignedTransfer[]): Promise<SentOutcome>
  /** What one more payment would cost now, in the chain's own coin; `fresh` when the payee's account must be made. */
  cost(order: PayoutOrder): Promise<{ readonly native: bigint; readonly fresh: boolean }>
  /** The treasury's own coin for fees. */
  nativeBalance(): Promise<bigint>
  /** The treasury's USDC as of now. */
  usdcBalance(): Promise<Usdc>
}
