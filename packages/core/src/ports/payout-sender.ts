import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** One payment to make. It is stored before it is signed. */
export interface PayoutRequest {
  /** It names the payment on the chain: the memo on Solana, the nonce of the authorization on EVM. */
  readonly mark: string
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

/** What the treasury signed for a payout, or on Solana for several. It is stored before anybody else gets it, and is executed at most once. */
export interface SignedPayout {
  /** Solana: the transaction's signature. EVM: the digest that the treasury signed; the transaction that executes it is not known yet. */
  readonly reference: string
  /** Solana: the transaction. EVM: the token's call, which any account can make. */
  readonly bytes: string
  /** The last height (Solana) or the last second of block time (EVM) at which it can be executed. */
  readonly validTo: bigint
}

export type SignedPayoutOutcome =
  | PayoutOutcome
  /** EVM: not on the chain, and expired soon. Another one with the same terms excludes it. */
  | { readonly kind: 'ending' }

/** Signs the treasury's money away on one network. Only the worker has one. */
export interface PayoutSender {
  readonly network: Network
  readonly treasury: string
  /** Why this payment can never succeed, such as a blocked payee, or undefined. */
  rejectionReason(payout: PayoutRequest): Promise<string | undefined>
  /** `attempt`: how many were signed before, so that the network's fee can rise. Throws `TooFewProviders`. */
  sign(payout: PayoutRequest, attempt: number): Promise<SignedPayout>
  /** The outcome of the payout over all that was signed for it. */
  observe(signed: readonly SignedPayout[]): Promise<SignedPayoutOutcome>
  /** Sends what was signed. Absent where gas accounts send many at once: `batches`. */
  readonly send?: (signed: SignedPayout) => Promise<void>
  /** Absent where each payout is signed by itself. */
  readonly groups?: PayoutGroups
  readonly batches?: PayoutBatches
  /** What a final transaction cost in the native coin, undefined when another account paid for it. Absent on chains that do not say. */
  readonly costOf?: (reference: string) => Promise<bigint | undefined>
  /** Current cost in the chain's native coin. `createsAccount`: the payee's token account must be created. */
  estimateCost(payout: PayoutRequest): Promise<{ readonly native: bigint; readonly createsAccount: boolean }>
  /** How much of the native coin there is to pay the fees. */
  nativeBalance(): Promise<bigint>
  /** At least so much USDC is in the treasury at the newest block of as many providers as required. Throws `TooFewProviders`. */
  usdcBalance(): Promise<Usdc>
}

/** Solana: several payouts in one transaction, which pays all of them or none. */
export interface PayoutGroups {
  /** The most payouts of one transaction. */
  readonly size: number
  /** Each payee has a token account. The payments of the transaction have this order. Throws `TooFewProviders`. */
  sign(payouts: readonly PayoutRequest[]): Promise<SignedPayout>
  /** What each of so many payouts costs in the native coin. */
  share(count: number): bigint
}

export interface BatchFees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A transaction of a gas account with many payouts. */
export interface SignedBatch extends BatchFees {
  readonly reference: string
  readonly bytes: string
}

/** Failure reason: the chain has paid it, in a block that was not read yet. */
export const IS_PAID = 'paid in a block'

/** EVM: sends what the treasury signed, many payouts in one transaction. One that fails stops no other. */
export interface PayoutBatches {
  /** Each sends one transaction at a time. They have no money but the native coin that pays for gas. */
  readonly accounts: readonly string[]
  /** The most payouts of one transaction. */
  readonly size: number
  /** Why nobody could pay this payee, such as a malformed address, or undefined. Asks no node. */
  invalidPayee(payout: PayoutRequest): string | undefined
  /** For each payout why it would fail in the newest block (`IS_PAID`), or undefined. */
  failures(payouts: readonly SignedPayout[]): Promise<readonly (string | undefined)[]>
  /** How many transactions of the account are mined: the most that as many providers as required show. Throws `unavailable`. */
  mined(account: string): Promise<bigint>
  /** `outbid`: the fees of the transaction that it replaces. Throws `unavailable` when the fees are above the cap. */
  sign(batch: {
    readonly account: string
    readonly nonce: bigint
    readonly payouts: readonly SignedPayout[]
    readonly outbid: BatchFees | undefined
  }): Promise<SignedBatch>
  /** Broadcasts the transaction. After an error the outcome is unknown: it may still be executed. */
  send(batch: SignedBatch): Promise<void>
}
