import type { Needs } from '@market/core/context'
import type { SignedPayment } from '@market/core/ports/facilitator'
import type { ErrorCode } from '@market/kernel/api-error'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { SignInstructions } from './contest/signing.ts'
import type { CallerLookups } from './lookups.ts'
import { type Quote, REGISTRATION } from './quote.ts'

export type PurchaseId = `hir_${string}`

/** How the caller proved to be the payer. */
export type Binding = 'none' | 'reference' | 'payer' | 'signed'

/** What identifies a payment. */
export interface ProofKey {
  readonly network: Network
  readonly kind: 'transaction' | 'authorization' | 'message'
  readonly proof: string
}

/** What the buyer wants; enough to fulfil it later without the buyer. */
export interface PurchaseRequest {
  /** `service:svc_…` or `registration`. */
  readonly subject: string
  readonly request: Readonly<Record<string, unknown>>
  readonly fingerprint: Buffer
  /** The Idempotency-Key or the payment's identifier. With one, a replay must send the same. */
  readonly requestKey: string | null
}

interface Common extends ProofKey, PurchaseRequest {
  readonly id: PurchaseId
  readonly binding: Binding
  readonly payer: string | null
  readonly due: Usdc
  readonly leaseUntil: Date
  /** Of the claim; absent before it is stored. A lease of an earlier database epoch is over. */
  readonly databaseEpoch?: string | undefined
  readonly createdAt: Date
}

/** A purchase from the claim of its payment to its result. */
export type Purchase = Common &
  (
    | { readonly state: 'claimed' }
    /** Submitted: its payment intent completes it. */
    | { readonly state: 'sent'; readonly reference: string }
    | { readonly state: 'done'; readonly reference: string; readonly resultId: string }
    | { readonly state: 'void'; readonly why: string | null }
  )

export type PurchaseIn<S extends Purchase['state']> = Extract<Purchase, { state: S }>

/** The payment of a request: a transfer that the buyer made, or a payment that the buyer signed for us to submit. */
export type PaymentCredential =
  | {
      readonly kind: 'transaction'
      readonly network: Network
      /** The request does not name the network; the form of the reference does. */
      readonly isNetworkInferred: boolean
      readonly reference: string
    }
  | {
      readonly kind: 'signed'
      readonly version: 1 | 2
      /** The network's name in that version. */
      readonly network: string
      /** Version 2: the requirement that it meets. */
      readonly accepted: Readonly<Record<string, unknown>>
      readonly payment: SignedPayment
      /** Version 2: the identifier that the payer gave to this payment. */
      readonly paymentId: string | undefined
    }

/** A transfer that the buyer made and names. */
export type NamedPayment = Extract<PaymentCredential, { kind: 'transaction' }>

/** Something that can be bought with a request, and what this request asks for. */
export interface Offer {
  readonly wanted: PurchaseRequest
  /** The current price; fails for what is not for sale, or not on these terms. */
  readonly quote: () => Promise<Quote>
  /** Amounts that were due within the last hour and are not any more. */
  readonly recentDues: () => Promise<readonly Usdc[]>
  /** The only wallet that may pay, when the request names one. */
  readonly payer?: string | undefined
  /** Whether the wallet is the seller's, which cannot pay. */
  readonly isSellersWallet?: (wallet: string) => Promise<boolean>
}

/** What proves that the caller made the transfer. */
export interface TransferEvidence {
  /** The secret of the quote that the transfer refers to. */
  readonly claim?: string | undefined
  /** Verifies the request's wallet signature of this purpose and returns the wallet's key. */
  readonly signer?: ((purpose: string) => Promise<string>) | undefined
  /** Wallets that the caller's credential proves. */
  readonly ownWallets?: readonly string[] | undefined
}

/** A reason that the x402 protocol defines, such as `invalid_exact_evm_payload_signature`. */
export type X402Reason = string & { readonly ofProtocol: true }

/** Why a payment was not accepted. `code` is stable; without a `message` the code has a standard one. */
export interface PaymentProblem {
  readonly code: ErrorCode | X402Reason
  readonly message?: string
  /** What the payer signs to be accepted. */
  readonly sign?: SignInstructions | undefined
}

export type PurchaseResult =
  /** No payment, or one that was not accepted. */
  | {
      readonly kind: 'quote'
      readonly quote: Quote
      readonly problem?: PaymentProblem
      readonly retryAfterSeconds?: number
    }
  /** Submitted and not confirmed yet. */
  | { readonly kind: 'pending'; readonly network: Network; readonly reference: string }
  | {
      readonly kind: 'done'
      readonly purchase: PurchaseIn<'done'>
      readonly isReplay: boolean
      /** Whether this request proves that it is the buyer's, by the Idempotency-Key or a signature. */
      readonly isProven: boolean
    }

/** `transact` is the pipeline's: it checks the switches. Once a payment was submitted they no longer stop it. */
export type PurchaseContext = Needs<
  | 'db'
  | 'transact'
  | 'clock'
  | 'ids'
  | 'vault'
  | 'chains'
  | 'facilitators'
  | 'signatures'
  | 'baseUrl'
  | 'minPrice'
  | 'resultWaitMs'
> & {
  /** Bounds what the caller's transactions cost the nodes. */
  readonly lookups: CallerLookups
}

/** What the payment intent of a submitted purchase is for. */
export const intentPurpose = ({ id, subject }: Pick<Purchase, 'id' | 'subject'>) =>
  ({ kind: subject === REGISTRATION ? 'registration' : 'purchase', id }) as const

export const isSameRequest = (
  purchase: PurchaseRequest,
  { fingerprint, requestKey }: PurchaseRequest,
): boolean =>
  purchase.fingerprint.equals(fingerprint) &&
  (purchase.requestKey === null || purchase.requestKey === requestKey)
