import type { Network } from '@market/kernel/network'
import type { PurchaseIn } from './purchase.ts'
import type { Quote } from './quote.ts'

/** What a request that may carry a payment leads to. */
export type PurchaseResult =
  /** Pay first, or pay otherwise: why the payment that came would not do. */
  | {
      readonly kind: 'quote'
      readonly quote: Quote
      readonly error?: string
      readonly retryAfterSeconds?: number
    }
  /** On its way to the chain; the same request again leads on. */
  | { readonly kind: 'pending'; readonly network: Network; readonly reference: string }
  | { readonly kind: 'done'; readonly purchase: PurchaseIn<'done'>; readonly isReplay: boolean }
