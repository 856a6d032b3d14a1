import type { Settlement, SignedPayment } from '@market/core/ports/facilitator'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

export type PurchaseId = `hir_${string}`

/** How we know that whoever asks is who paid. */
export type Binding = 'none' | 'reference' | 'payer' | 'signed'

/** What makes a payment one. */
export interface ProofKey {
  readonly network: Network
  readonly kind: 'transaction' | 'authorization' | 'message'
  readonly proof: string
}

/** What a buyer said they want, by which it is done without asking again. */
export interface PurchaseRequest {
  /** `service:svc_…` or `registration`. */
  readonly subject: string
  readonly request: Readonly<Record<string, unknown>>
  readonly fingerprint: Buffer
  /** The Idempotency-Key or the payment's identifier: with one, only whoever knows it gets the answer again. */
  readonly requestKey: string | null
}

interface Common extends ProofKey, PurchaseRequest {
  readonly id: PurchaseId
  readonly binding: Binding
  readonly payer: string | null
  readonly due: Usdc
  readonly leaseUntil: Date
  readonly createdAt: Date
}

export interface Broadcast {
  readonly payment: SignedPayment
  readonly settlement: Settlement
}

/** A payment that came with a request, from the claim to what was bought. */
export type Purchase = Common &
  (
    | { readonly state: 'claimed' }
    | ({ readonly state: 'sent' } & Broadcast)
    | { readonly state: 'done'; readonly reference: string; readonly resultId: string }
    | { readonly state: 'void'; readonly why: string | null }
  )

export type PurchaseIn<S extends Purchase['state']> = Extract<Purchase, { state: S }>
