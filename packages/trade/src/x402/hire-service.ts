import { type Actor, payerWallets } from '@market/core/context'
import { isSellersWallet } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { ListingId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { addFee } from '@market/money/ledger'
import { normalizeReference } from '@market/money/payments'
import { findListing, findPastPrices } from '@market/offers/listings'
import { buyerOf, checkAnswers, rejectOwnService } from '../orders/index.ts'
import { buySent } from './buy-sent.ts'
import { buySigned } from './buy-signed.ts'
import { purposeToSign } from './contest/signing.ts'
import { findPayable } from './payable-services.ts'
import type {
  NamedPayment,
  Offer,
  PaymentCredential,
  PurchaseContext,
  PurchaseResult,
  TransferEvidence,
} from './purchase.ts'
import { subjectOf } from './quote.ts'
import { fingerprintOf, nonEmptyExtras, type OrderExtras, type ServiceRequest } from './service-request.ts'

export interface ServicePurchase extends TransferEvidence {
  readonly listingId: ListingId
  readonly brief: string | undefined
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly extras?: OrderExtras | undefined
  /** The caller, when the request has a credential beside its payment. */
  readonly principal?: Actor | undefined
  readonly requestKey: string | undefined
  readonly credential: PaymentCredential
  /** Up to this amount the payout of a trusted seller waits less when the payer is not proven. */
  readonly shortWaitMax: Usdc
}

/** Buys a service with the payment of the request. */
export async function hireService(ctx: PurchaseContext, wanted: ServicePurchase): Promise<PurchaseResult> {
  const { credential, principal } = wanted
  const offer = offerOf(ctx, wanted, credential)
  if (credential.kind === 'signed') return buySigned(ctx, offer, credential)
  const ownWallets = principal && payerWallets(principal, credential.network)
  return buySent(ctx, offer, credential, { ...wanted, ownWallets })
}

/** What the wallet signs that made the transfer of a purchase. */
export function payerPurposeOf(
  wanted: Pick<ServicePurchase, 'listingId' | 'brief' | 'requirementAnswers'>,
  { network, reference }: NamedPayment,
): string {
  const request = { subject: subjectOf({ id: wanted.listingId }), request: { brief: briefOf(wanted) } }
  return purposeToSign(request, { network, reference: normalizeReference(network, reference) })
}

function offerOf(ctx: PurchaseContext, wanted: ServicePurchase, credential: PaymentCredential): Offer {
  const { listingId, requirementAnswers, principal } = wanted
  const subject = subjectOf({ id: listingId })
  const brief = briefOf(wanted)
  const extras = nonEmptyExtras(wanted.extras)
  const buyer = principal && { buyer: buyerOf(principal) }
  const request: ServiceRequest = { brief, requirementAnswers, ...extras, ...buyer }
  const paymentId = credential.kind === 'signed' ? credential.paymentId : undefined
  return {
    wanted: {
      subject,
      request: { ...request },
      fingerprint: fingerprintOf(subject, brief, requirementAnswers, extras),
      requestKey: wanted.requestKey ?? paymentId ?? null,
    },
    quote: async () => {
      const { listing, quote } = await findPayable(ctx, listingId, wanted.shortWaitMax)
      if (principal !== undefined) await rejectOwnService(ctx.db, principal, listing.agentId)
      checkAnswers(listing.requirementFields, requirementAnswers, { requiresAll: false })
      return quote
    },
    isSellersWallet: async (wallet) => {
      const listing = await findListing(ctx.db, listingId)
      return listing !== undefined && isSellersWallet(ctx.db, wallet, listing.agentId)
    },
    recentDues: async () => {
      const past = await findPastPrices(ctx.db, listingId, ctx.clock.now())
      return past.map((price) => addFee(price).due)
    },
  }
}

/** The limit of an order's brief. The answers are stored in full beside it. */
const LONGEST_BRIEF = 3_000

/** A brief is required before money moves. Without one, the answers to the agent's questions are used. */
function briefOf({
  brief,
  requirementAnswers,
}: Pick<ServicePurchase, 'brief' | 'requirementAnswers'>): string {
  const text = brief?.normalize('NFC').trim()
  if (text !== undefined && text !== '') return text
  const answers = Object.entries(requirementAnswers)
  if (answers.length === 0)
    throw new ApiError(
      'invalid',
      'brief is required: in the body, in the query or as the X-Market-Brief header',
      {
        code: 'brief_required',
        details: [{ path: 'brief', message: 'is required' }],
      },
    )
  const joined = answers
    .map(
      ([label, answer]) =>
        `${label}: ${typeof answer === 'object' ? JSON.stringify(answer) : String(answer)}`,
    )
    .join('\n')
  // Counted in characters like an order's brief, so that no surrogate pair is cut in half.
  const characters = [...joined]
  return characters.length <= LONGEST_BRIEF ? joined : `${characters.slice(0, LONGEST_BRIEF - 1).join('')}…`
}
