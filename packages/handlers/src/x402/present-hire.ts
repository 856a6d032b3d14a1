import { HOUR } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { findOrder } from '@market/trade/orders'
import {
  capabilityOf,
  firstVersionOf,
  giveReference,
  type HireAnswer,
  plainBody,
  type Quote,
  versionTwoOf,
} from '@market/trade/x402'
import type { Answer } from '../call.ts'
import type { House } from '../house.ts'
import type { DoorName } from './hire-call.ts'

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** What each door answers, to the letter of its contract. */
export async function presentHire(house: House, door: DoorName, answer: HireAnswer): Promise<Answer> {
  switch (answer.kind) {
    case 'quote':
      return presentQuote(house, door, answer)
    case 'pending':
      return presentPending(house, answer)
    case 'done':
      return presentDone(house, door, answer)
  }
}

export function presentQuote(
  house: House,
  door: DoorName,
  { quote, error, retryAfterSeconds }: Extract<HireAnswer, { kind: 'quote' }>,
): Answer {
  const { reference, claim, expiresAt } = giveReference(house, quote)
  const { body, required } =
    error === undefined ? shownOnce(house, door, quote) : shown(house, door, quote, error)
  return {
    status: 402,
    body,
    headers: {
      'Cache-Control': 'no-store',
      ...(required !== undefined && { 'PAYMENT-REQUIRED': required }),
      'X-Market-Payment-Reference': reference.toString('base64url'),
      'X-Market-Payment-Claim': claim,
      'X-Market-Payment-Expires': expiresAt.toISOString(),
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    },
  }
}

interface Shown {
  readonly body: unknown
  readonly required: string | undefined
}

function shown({ baseUrl }: House, door: DoorName, quote: Quote, error?: string): Shown {
  // A client that speaks both versions believes this header before the body, so at the door of version 1 there is none.
  if (door === 'v1') return { body: firstVersionBody(quote, baseUrl, error), required: undefined }
  return { body: plainBody(quote, baseUrl, error), required: base64(versionTwoOf(quote, baseUrl, error)) }
}

const made = new WeakMap<Quote, Map<'v1' | 'v2', Shown>>()

/** The same for everybody who asks while a quote is kept. */
function shownOnce(house: House, door: DoorName, quote: Quote): Shown {
  const versions = made.get(quote) ?? new Map<'v1' | 'v2', Shown>()
  made.set(quote, versions)
  const version = door === 'v1' ? 'v1' : 'v2'
  const known = versions.get(version) ?? shown(house, door, quote)
  versions.set(version, known)
  return known
}

function firstVersionBody(quote: Quote, baseUrl: string, error = 'X-PAYMENT header is required') {
  const resource = `${baseUrl}/api/x402/v1/pay?service_id=${quote.subject.replace('service:', '')}`
  return { x402Version: 1, error, accepts: firstVersionOf(quote, resource) }
}

const RETRY_SECONDS = 2

export function presentPending(
  house: House,
  { network, reference }: Extract<HireAnswer, { kind: 'pending' }>,
): Answer {
  const settled = {
    success: false,
    errorReason: 'settlement_pending',
    transaction: reference,
    network: house.facilitators[network]?.caip2,
  }
  const data = { status: 'accepted', payment: 'settlement_pending', transaction: reference }
  return {
    status: 202,
    body: { success: true, data },
    headers: { ...settledHeaders(settled), 'Retry-After': String(RETRY_SECONDS) },
  }
}

const settledHeaders = (settled: unknown) => ({
  'Cache-Control': 'private, no-store',
  'PAYMENT-RESPONSE': base64(settled),
  'X-PAYMENT-RESPONSE': base64(settled),
})

/** What a client of the protocol reads of a payment that arrived. */
export const responseHeaders = (house: House, { network, reference, payer }: Done['hire']) =>
  settledHeaders({
    success: true,
    transaction: reference,
    network: house.facilitators[network]?.caip2 ?? network,
    payer,
  })

type Done = Extract<HireAnswer, { kind: 'done' }>

/** After this, words that can be guessed do not open an order any more: only the word in its own address does. */
const ANSWERED_AGAIN_MS = 24 * HOUR

async function presentDone(house: House, door: DoorName, { hire, isReplay }: Done): Promise<Answer> {
  const orderId = hire.resultId as OrderId
  const { status } = await findOrder(house.db, orderId)
  const age = house.clock.now().getTime() - hire.createdAt.getTime()
  const isOpen = !isReplay || hire.requestKey !== null || age < ANSWERED_AGAIN_MS
  const word = isOpen ? `?t=${capabilityOf(house, orderId)}` : ''
  const url = `${house.baseUrl}/api/x402/orders/${orderId}${word}`
  const order = { order_id: orderId, status }
  return {
    status: door === 'order' ? 201 : 200,
    body:
      door === 'discover'
        ? { ...order, result_url: url }
        : { success: true, data: { ...order, status_url: url } },
    headers: { ...responseHeaders(house, hire), ...(isReplay && { 'Idempotent-Replayed': 'true' }) },
  }
}
