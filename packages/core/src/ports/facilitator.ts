import { type ApiError, unavailable } from '@market/kernel/api-error'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** What a buyer's program signed, as it came and not yet believed: the `payload` of an x402 payment. */
export type SignedPayment = Readonly<Record<string, unknown>>

/** What makes a payment this one and no other, whatever is written around it. */
export interface PaymentProof {
  /** An EIP-3009 authorization, or the message of a Solana transaction. */
  readonly kind: 'authorization' | 'message'
  /** EVM: `<from>:<nonce>` in lower case. Solana: the SHA-256 of the message, so that no signature slot changes it. */
  readonly proof: string
  /** The wallet that pays, by its key. */
  readonly payer: string
}

/** Bytes that bring a buyer's payment to the chain. Stored before they are sent; sent any number of times. */
export interface Settlement {
  /** The transaction's hash or signature: known before it is sent. */
  readonly reference: string
  readonly bytes: string
  /** EVM: of the account that pays the gas. Solana: null. */
  readonly nonce: bigint | null
  /** The newest final height when it was signed: nothing of it is on the chain before. */
  readonly signedAtHeight: bigint
  /** Solana: the height after which these bytes can no longer take effect. EVM: null, the payment itself says until when. */
  readonly lastValidHeight: bigint | null
}

/** What the chain says just now of what a settlement needs: asked before anything is held that others wait for. */
export interface SettlementTerms {
  /** EVM: the gas account's next nonce, with what waits to be mined. Solana: null. */
  readonly nextNonce: bigint | null
  readonly finalHeight: bigint
  /** Solana: nothing that was signed by now can take effect above it. EVM: null. */
  readonly lastValidHeight: bigint | null
  /** EVM: what a transaction should offer, in wei per gas. Solana: null, the buyer has written it down. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | null
  /** EVM: what the gas account has. Solana: null, for there the payment was tried with it. */
  readonly gasLeft: bigint | null
}

export const noGas = (network: Network): ApiError =>
  unavailable(`There is no gas to bring the payment to ${network} at the moment: pay on another network`)

/** In the chain's own coin. */
export interface Gas {
  readonly left: bigint
  /** What one settlement costs today at most. */
  readonly each: bigint
}

export type SettlementOutcome =
  /** Nothing seen; it may still take effect. Send it again. */
  | { readonly kind: 'unknown' }
  /** The buyer's payment is on the chain, by these bytes or by somebody else who had seen the authorization. */
  | { readonly kind: 'arrived'; readonly reference: string }
  /** It can no longer take effect, and did not: nobody paid anything. */
  | { readonly kind: 'void'; readonly why: string }

/** Brings payments that buyers signed to one chain, and pays the gas for it. It can move no money of the treasury. */
export interface Facilitator {
  readonly network: Network
  /** The network as x402 names it: CAIP-2 in version 2, a word in version 1, where it has one. */
  readonly caip2: string
  readonly v1: string | undefined
  /** The account that pays the gas. */
  readonly gasAccount: string
  /** What a requirement says beside asset, address and amount: the token's EIP-712 domain, or who pays the fee. */
  readonly extra: Readonly<Record<string, unknown>>
  /** Reads the payment alone; undefined when it is none for this network. */
  read(payment: SignedPayment): PaymentProof | undefined
  /** Why it would not bring exactly this amount to the treasury if it were sent now; undefined when it would. */
  rejectionReason(payment: SignedPayment, amount: Usdc): Promise<string | undefined>
  readTerms(): Promise<SettlementTerms>
  /** EVM: how many transactions of the gas account are in blocks. Solana: null. */
  minedNonce(): Promise<bigint | null>
  /** Asks nobody. Only where the gas key is; fails elsewhere. */
  sign(payment: SignedPayment, terms: SettlementTerms, nonce: bigint | null): Promise<Settlement>
  /**
   * EVM: the same call at the same nonce for more, when these bytes offer less than blocks ask today. Undefined when
   * they offer enough, or as much as we ever offer. Only where the gas key is.
   */
  outbid(bytes: string, terms: SettlementTerms): Promise<string | undefined>
  /** Hands the bytes to the network. Any error means that the outcome is unknown, never that nothing happened. */
  send(settlement: Pick<Settlement, 'bytes'>): Promise<void>
  look(settlement: Settlement, payment: SignedPayment): Promise<SettlementOutcome>
  gas(): Promise<Gas>
}

/** The networks on which signed payments are taken. */
export type Facilitators = Readonly<Partial<Record<Network, Facilitator>>>
