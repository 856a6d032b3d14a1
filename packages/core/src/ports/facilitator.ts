import { type ApiError, unavailable } from '@market/kernel/api-error'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** The unverified `payload` of an x402 payment. */
export type SignedPayment = Readonly<Record<string, unknown>>

/** Identifies a signed payment independently of how it is encoded. */
export interface PaymentProof {
  /** An EIP-3009 authorization, or the message of a Solana transaction. */
  readonly kind: 'authorization' | 'message'
  /** EVM: `<from>:<nonce>` in lower case. Solana: the SHA-256 of the message, so that it does not depend on the signatures. */
  readonly proof: string
  /** Key of the paying wallet. */
  readonly payer: string
}

/** A signed transaction that executes a buyer's payment. It is stored before it is sent and can be sent repeatedly. */
export interface Settlement {
  /** The transaction's hash (EVM) or signature (Solana), known before it is sent. */
  readonly reference: string
  readonly bytes: string
  /** EVM: the gas account that sends it, and its nonce. Solana: null. */
  readonly gasAccount: string | null
  readonly nonce: bigint | null
  /** The newest final height at the time of signing. The transaction cannot be in an earlier block. */
  readonly signedAtHeight: bigint
  /** Solana: the last height at which the transaction can be executed. EVM: null, the authorization has its own expiry. */
  readonly lastValidHeight: bigint | null
}

/** Current chain state that signing needs. It is read before any lock is acquired. */
export interface SettlementTerms {
  /** EVM: number of mined transactions of the gas account. Solana: null. */
  readonly minedNonce: bigint | null
  readonly finalHeight: bigint
  /** Solana: the last height at which a transaction signed now can be executed. EVM: null. */
  readonly lastValidHeight: bigint | null
  /** EVM: suggested fees in wei per gas. Solana: null, the buyer's transaction sets the fee. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | null
  /** EVM: balance of the gas account. Solana: null, because the simulation of the payment covers it. */
  readonly gasBalance: bigint | null
}

export const outOfGas = (network: Network): ApiError =>
  unavailable(`The gas account on ${network} is empty. Pay on another network.`)

/** Amounts in the chain's native coin. */
export interface Gas {
  readonly balance: bigint
  /** Upper limit of what one settlement costs at current fees. */
  readonly maxCostPerSettlement: bigint
}

export type SettlementOutcome =
  /** Not on the chain, but it may still be executed. Send it again. */
  | {
      readonly kind: 'unknown'
      /** EVM: another transaction used its nonce, so the payment must be signed again. */
      readonly isLost?: true
    }
  /** The payment is on the chain, through this transaction or through another one with the same authorization. */
  | { readonly kind: 'arrived'; readonly reference: string }
  /** It was not executed and never can be. The buyer paid nothing. */
  | { readonly kind: 'void'; readonly reason: string }

/** Settles signed payments on one network and pays the gas. It cannot move the treasury's money. */
export interface Facilitator {
  readonly network: Network
  /** The network name in x402 version 2 (CAIP-2), and in version 1 where one exists. */
  readonly caip2: string
  readonly v1: string | undefined
  /** The account that pays the gas. */
  readonly gasAccount: string
  /** The `extra` field of a payment requirement: the token's EIP-712 domain (EVM) or the fee payer (Solana). */
  readonly extra: Readonly<Record<string, unknown>>
  /** Parses the payload without network access. Undefined when it is not a payment for this network. */
  parsePayment(payment: SignedPayment): PaymentProof | undefined
  /** Why the payment would not transfer exactly this amount to the treasury now, or undefined when it would. */
  rejectionReason(payment: SignedPayment, amount: Usdc): Promise<string | undefined>
  readTerms(): Promise<SettlementTerms>
  /** EVM: number of mined transactions of the gas account. Solana: null. */
  minedNonce(): Promise<bigint | null>
  /** Makes no network request. Throws in a process without the gas key. */
  sign(payment: SignedPayment, terms: SettlementTerms, nonce: bigint | null): Promise<Settlement>
  /**
   * EVM: signs the same call at the same nonce with a higher fee when the fee of `bytes` is below the current one.
   * Undefined when the fee is sufficient or already at the limit. Throws in a process without the gas key.
   */
  replaceWithHigherFee(
    bytes: string,
    terms: SettlementTerms,
  ): Promise<Pick<Settlement, 'reference' | 'bytes'> | undefined>
  /** Broadcasts the transaction. After an error the outcome is unknown: it may still be executed. */
  send(settlement: Pick<Settlement, 'bytes'>): Promise<void>
  observe(settlement: Settlement, payment: SignedPayment): Promise<SettlementOutcome>
  readGas(): Promise<Gas>
}

/** The networks on which signed payments are accepted. */
export type Facilitators = Readonly<Partial<Record<Network, Facilitator>>>
