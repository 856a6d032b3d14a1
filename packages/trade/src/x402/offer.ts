import type { Needs } from '@market/core/context'
import type { PurchaseRequest } from './purchase.ts'
import type { Quote } from './quote.ts'

/** Something that can be bought with a request, and what this request says about it. */
export interface Offer {
  readonly wanted: PurchaseRequest
  /** What is asked for it now; rejects what is not on offer, or not on these terms. */
  readonly quote: () => Promise<Quote>
}

/** What a payer may show beside the payment. */
export interface Shown {
  /** The private word of the quote that the payment refers to. */
  readonly claim?: string | undefined
  /** A wallet that signed for this very payment and purchase, by its key. */
  readonly payer?: string | undefined
}

export type BuyContext = Needs<'db' | 'clock' | 'ids' | 'vault' | 'chains' | 'facilitators'>

export const isSameRequest = (
  purchase: PurchaseRequest,
  { fingerprint, requestKey }: PurchaseRequest,
): boolean =>
  purchase.fingerprint.equals(fingerprint) &&
  (purchase.requestKey === null || purchase.requestKey === requestKey)
