import { ApiError } from '@market/kernel/api-error'
import type { ListingId } from '@market/kernel/ids'
import { checkAnswers } from '../orders/index.ts'
import { buySent } from './buy-sent.ts'
import { buySigned } from './buy-signed.ts'
import { findPayable } from './find-payable.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { ServiceRequest } from './fulfil.ts'
import { type OrderExtras, saidIn } from './order-extras.ts'
import type {
  Offer,
  PaymentCredential,
  PurchaseContext,
  PurchaseResult,
  TransferEvidence,
} from './purchase.ts'
import { subjectOf } from './quote.ts'

export interface WantedHire extends TransferEvidence {
  readonly listingId: ListingId
  readonly brief: string | undefined
  readonly requirementAnswers: Readonly<Record<string, unknown>>
  readonly extras?: OrderExtras | undefined
  readonly requestKey: string | undefined
  readonly credential: PaymentCredential
}

/** Hires for whoever pays with the request. */
export async function hireService(ctx: PurchaseContext, wanted: WantedHire): Promise<PurchaseResult> {
  const { credential } = wanted
  const offer = offerOf(ctx, wanted, credential)
  if (credential.kind === 'signed') return buySigned(ctx, offer, credential)
  return buySent(ctx, offer, credential, wanted)
}

function offerOf(ctx: PurchaseContext, wanted: WantedHire, credential: PaymentCredential): Offer {
  const { listingId, requirementAnswers } = wanted
  const subject = subjectOf({ id: listingId })
  const brief = briefOf(wanted)
  const extras = saidIn(wanted.extras)
  const request: ServiceRequest = { brief, requirementAnswers, ...extras }
  const paymentId = credential.kind === 'signed' ? credential.paymentId : undefined
  return {
    wanted: {
      subject,
      request: { ...request },
      fingerprint: fingerprintOf(subject, brief, requirementAnswers, extras),
      requestKey: wanted.requestKey ?? paymentId ?? null,
    },
    quote: async () => {
      const { listing, quote } = await findPayable(ctx, listingId)
      checkAnswers(listing.requirementFields, requirementAnswers)
      return quote
    },
  }
}

/** As long as an order's may be; the answers themselves are kept whole beside it. */
const LONGEST_BRIEF = 3_000

/** What the agent is to do must be said before any money moves; the answers to its questions may say it. */
function briefOf({ brief, requirementAnswers }: WantedHire): string {
  const said = brief?.normalize('NFC').trim()
  if (said !== undefined && said !== '') return said
  const answers = Object.entries(requirementAnswers)
  if (answers.length === 0)
    throw new ApiError(
      'invalid',
      'Say what is to be done: `brief` in the body or query, or the X-Market-Brief header',
      {
        code: 'brief_required',
        details: [{ path: 'brief', message: 'is required' }],
      },
    )
  const told = answers.map(([label, answer]) => `${label}: ${String(answer)}`).join('\n')
  // By letters, as an order counts them: half of one that takes two units is no text that could be stored.
  const letters = [...told]
  return letters.length <= LONGEST_BRIEF ? told : `${letters.slice(0, LONGEST_BRIEF - 1).join('')}…`
}
