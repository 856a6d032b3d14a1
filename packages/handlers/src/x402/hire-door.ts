import type { LimitName } from '@market/contract/limits'
import type { ListingId } from '@market/kernel/ids'
import { Refusal } from '@market/kernel/refusal'
import { carrierOf, findPayable, hireService, type Quote } from '@market/trade/x402'
import { answerLimited } from '../answer-limited.ts'
import type { Answer } from '../call.ts'
import type { House } from '../house.ts'
import type { DoorName, HireCall } from './hire-call.ts'
import { keepFor } from './kept.ts'
import { presentHire, presentQuote } from './present-hire.ts'
import { readHire } from './read-hire.ts'
import { signerOf } from './signer-of.ts'

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
export function hireDoor(house: House): (call: HireCall) => Promise<Answer> {
  const keep = keepFor<Quote>(QUOTE_MS, { most: MOST_QUOTES })
  const quoteOf = (id: ListingId) => keep(id, async () => (await findPayable(house, id)).quote)
  return oneWay(house, (call) => answerTo(house, call, quoteOf))
}

export const oneWay =
  (house: House, answerTo: (call: HireCall) => Promise<Answer>) =>
  (call: HireCall): Promise<Answer> =>
    answerLimited(house, call.isCounted === true ? undefined : LIMITED[call.door], call, async () => {
      if (call.refused !== undefined) throw call.refused
      return answerTo(call)
    })

async function answerTo(
  house: House,
  call: HireCall,
  quoteOf: (id: ListingId) => Promise<Quote>,
): Promise<Answer> {
  const { service_id, brief, requirements, extras } = readHire(call.door, call.input)
  const carrier = carrierOf(call.payment)
  const listingId = service_id as ListingId
  if (carrier === undefined)
    return presentQuote(house, call.door, { kind: 'quote', quote: await quoteOf(listingId) })
  const payer = await signerOf(house, call, { carrier, listingId, brief })
  const answer = await hireService(house, {
    listingId,
    brief,
    requirementAnswers: requirements,
    extras,
    requestKey: keyOf(call),
    carrier,
    claim: call.claim,
    payer,
  })
  return presentHire(house, call.door, answer)
}

const MOST_LETTERS = 128

export function keyOf({ idempotencyKey }: HireCall): string | undefined {
  if (idempotencyKey === undefined || /^[\x21-\x7e]{1,128}$/.test(idempotencyKey)) return idempotencyKey
  throw new Refusal('invalid', `An Idempotency-Key has 1 to ${MOST_LETTERS} printable letters`, {
    code: 'bad_idempotency_key',
  })
}
