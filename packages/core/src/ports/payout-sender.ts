import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** One payment to make. It is stored before it is signed. */
export interface PayoutRequest {
  /** Included in the transaction: in the memo on Solana, after the call's arguments on EVM. */
  readonly payoutId: string
  readonly to: string
  readonly amount: Usdc
  /** Solana: whether the transaction creates the payee's token account. Without it, a missing account fails it. */
  readonly opensAccount?: boolean
}

/** A signed transaction. It is stored before it is sent, can be sent repeatedly and is executed at most once. */
export interface SignedTransfer {
  /** The transaction's hash (EVM) or signature (Solana), known before it is sent. */
  readonly reference: string
  readonly bytes: string
  /** EVM: the nonce assigned to this payout; it never changes. Solana: null. */
  readonly nonce: bigint | null
  /** Solana: the last height at which the transaction can be executed. EVM: null. */
  readonly lastValidHeight: bigint | null
  /** EVM: a replacement must exceed this by 12.5 %. Solana: null. */
  readonly maxFeePerGas: bigint | null
  readonly maxPriorityFeePerGas: bigint | null
}

/** Failure reason: another transaction used the nonce, so this one can never be executed. Sign again with a new nonce. */
export const NONCE_USED_BY_ANOTHER = 'nonce used by another transaction'

export type PayoutOutcome =
  /** Not on the chain, but it may still be executed. Send it again. */
  | { readonly kind: 'unknown' }
  /** In a block that is not final yet. */
  | { readonly kind: 'seen'; readonly reference: string }
  /** In a final block. `cost` is what the transaction cost in the native coin, when it is known. */
  | { readonly kind: 'final'; readonly reference: string; readonly cost?: bigint }
  /** In a final block, but the transaction failed. */
  | { readonly kind: 'failed'; readonly reference: string; readonly reason: string }
  /** None of the signed transactions was executed or can be any more. Only now is it safe to sign a new one. */
  | { readonly kind: 'expired' }

/** Sends the treasury's money on one network. Only the worker has one. */
export interface PayoutSender {
  readonly network: Network
  readonly treasury: string
  /** Why this payment can never succeed, such as a blocked payee, or undefined. */
  rejectionReason(payout: PayoutRequest): Promise<string | undefined>
  /**
   * EVM: the treasury's next nonce by mined transactions, and including pending ones: the highest value that any node
   * returns. Solana: null.
   */
  nonces(): Promise<{ readonly next: bigint; readonly pending: bigint } | null>
  /** EVM: the next nonce at the newest final block: the lowest value that any node returns. Solana: null. */
  finalNonce(): Promise<bigint | null>
  /** `previous` are the earlier transactions of this payout. On EVM the new one replaces them at the same nonce. */
  sign(
    payout: PayoutRequest,
    nonce: bigint | null,
    previous: readonly SignedTransfer[],
  ): Promise<SignedTransfer>
  /** Broadcasts the transaction. After an error the outcome is unknown: it may still be executed. */
  send(signed: SignedTransfer): Promise<void>
  /** The outcome of the payout over all its signed transactions. */
  observe(signed: readonly SignedTransfer[]): Promise<PayoutOutcome>
  /** What a final transaction cost in the native coin. Absent on chains that do not say. */
  readonly costOf?: (reference: string) => Promise<bigint | undefined>
  /** Current cost in the chain's native coin. `createsAccount`: the payee's token account must be created. */
  estimateCost(payout: PayoutRequest): Promise<{ readonly native: bigint; readonly createsAccount: boolean }>
  /** The treasury's balance of the native coin, which pays the fees. */
  nativeBalance(): Promise<bigint>
  /** At least so much USDC is in the treasury at the newest block of as many providers as required. Throws `TooFewProviders`. */
  usdcBalance(): Promise<Usdc>
}
