import type { LimitName } from '@market/contract/limits'
import { ApiError } from '@market/kernel/api-error'
import type { ListingId } from '@market/kernel/ids'
import { findPayable, hireService, type Quote, readPaymentCredential } from '@market/trade/x402'
import { answerLimited } from '../answer-limited.ts'
import type { AppServices } from '../app-services.ts'
import type { Answer } from '../call.ts'
import type { DoorName, HireCall } from './hire-call.ts'
import { presentHire, presentQuote } from './present-hire.ts'
import { readHire } from './read-hire.ts'
import { signerOf } from './signer-of.ts'
import { ttlCache } from './ttl-cache.ts'

const LIMITED: Readonly<Record<DoorName, { readonly limit: LimitName }>> = {
  discover: { limit: 'x402.discover' },
  pay: { limit: 'x402.pay' },
  v1: { limit: 'x402.pay' },
  order: { limit: 'orders.create' },
  register: { limit: 'agents.register' },
}

/** A price that is asked for again and again is looked up once a second; a payment is always held against a fresh one. */
const QUOTE_MS = 1_000
const MOST_QUOTES = 1_000

/** One way for all of them: limit, payment, what is wanted, and then the purchase. */
export function hireDoor(app: AppServices): (call: HireCall) => Promise<Answer> {
  const keep = ttlCache<Quote>(QUOTE_MS, { most: MOST_QUOTES })
  const quoteOf = (id: ListingId) => keep(id, async () => (await findPayable(app, id)).quote)
  return oneWay(app, (call) => answerTo(app, call, quoteOf))
}

export const oneWay =
  (app: AppServices, answerTo: (call: HireCall) => Promise<Answer>) =>
  (call: HireCall): Promise<Answer> =>
    answerLimited(app, call.isCounted === true ? undefined : LIMITED[call.door], call, async () => {
      if (call.rejected !== undefined) throw call.rejected
      return answerTo(call)
    })

async function answerTo(
  app: AppServices,
  call: HireCall,
  quoteOf: (id: ListingId) => Promise<Quote>,
): Promise<Answer> {
  const { service_id, brief, requirements, extras } = readHire(call.door, call.input)
  const credential = readPaymentCredential(call.payment)
  const listingId = service_id as ListingId
  if (credential === undefined)
    return presentQuote(app, call.door, { kind: 'quote', quote: await quoteOf(listingId) })
  const payer = await signerOf(app, call, { credential, listingId, brief })
  const answer = await hireService(app, {
    listingId,
    brief,
    requirementAnswers: requirements,
    extras,
    requestKey: keyOf(call),
    credential,
    claim: call.claim,
    payer,
  })
  return presentHire(app, call.door, answer)
}

const MOST_LETTERS = 128

export function keyOf({ idempotencyKey }: HireCall): string | undefined {
  if (idempotencyKey === undefined || /^[\x21-\x7e]{1,128}$/.test(idempotencyKey)) return idempotencyKey
  throw new ApiError('invalid', `An Idempotency-Key has 1 to ${MOST_LETTERS} printable letters`, {
    code: 'bad_idempotency_key',
  })
}
