import type { Usdc } from '@market/kernel/money'

/** Swaps from USDC to SOL on Solana. Another pair cannot be requested. */
export interface SwapRequest {
  /** The wallet that sends USDC, receives SOL and signs. */
  readonly taker: string
  readonly amount: Usdc
  readonly slippageBps: number
}

/** What a venue offers. Nothing in it is trusted: the transaction is checked against the request. */
export interface SwapQuote {
  /** The venue's id of the quote. */
  readonly requestId: string
  /** In base64, signed by the maker. */
  readonly transaction: string
  /** The quoted output, in lamports. */
  readonly outLamports: bigint
}

/** A server that offers swaps and sends them. Its methods throw `unavailable` when it does not respond as expected. */
export interface SwapVenue {
  /** Undefined when the venue does not offer this swap. */
  order(request: SwapRequest): Promise<SwapQuote | undefined>
  /** What the venue claims. After `failed`, or an error, the transaction may still be executed. */
  execute(submission: {
    readonly requestId: string
    readonly signedTransaction: string
  }): Promise<'success' | 'failed'>
}

/** What the transaction of a swap must do. */
export interface SwapTerms {
  readonly taker: string
  /** Exactly this much USDC leaves the wallet. */
  readonly amount: Usdc
  /** At least this many lamports arrive in it, after the fee when the taker pays it. */
  readonly minOut: bigint
}

/** Why a transaction is not exactly the requested swap. */
export type SwapFlaw =
  | 'unreadable'
  | 'version'
  | 'lookup_tables'
  | 'signers'
  | 'maker_signature'
  | 'compute_budget'
  | 'fee_too_high'
  | 'unknown_program'
  | 'token_2022'
  | 'token_approve'
  | 'token_set_authority'
  | 'token_close_account'
  | 'token_instruction'
  | 'account_creation'
  | 'durable_nonce'
  | 'system_instruction'
  | 'second_memo'
  | 'no_payment'
  | 'second_payment'
  | 'payment_mint'
  | 'payment_decimals'
  | 'payment_source'
  | 'payment_authority'
  | 'payment_destination'
  | 'payment_amount'
  | 'no_output'
  | 'second_output'
  | 'output_source'
  | 'output_recipient'
  | 'output_too_low'

/** Why a signed transaction cannot be submitted. */
export type SignedSwapFlaw = 'unreadable' | 'not_signed'

export interface SwapChecker {
  /** `messageHash`: SHA-256 in hex of the exact message, which does not depend on the signatures. */
  check(
    transaction: string,
    terms: SwapTerms,
  ): Promise<{ readonly flaw: SwapFlaw } | { readonly messageHash: string }>
  /** Requires a valid signature of every required signer. `signature` identifies the transaction on the chain. */
  checkSigned(
    transaction: string,
  ): Promise<{ readonly flaw: SignedSwapFlaw } | { readonly messageHash: string; readonly signature: string }>
  /** The block height after which no transaction that was built until now can be executed. */
  lastValidHeight(): Promise<bigint>
  /** What the chain shows. `failed` is final: the transaction failed or expired. Unreachable nodes are `unknown`. */
  observe(swap: {
    readonly signature: string
    readonly lastValidHeight: bigint
  }): Promise<'confirmed' | 'failed' | 'unknown'>
}

export interface Swaps {
  readonly venue: SwapVenue
  readonly checker: SwapChecker
}
