import { HOUR } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { findOrder } from '@market/trade/orders'
import {
  accessTokenOf,
  firstVersionOf,
  giveReference,
  type PurchaseResult,
  plainBody,
  type Quote,
  versionTwoOf,
} from '@market/trade/x402'
import type { AppServices } from '../app-services.ts'
import type { Answer } from '../call.ts'
import type { DoorName } from './hire-call.ts'

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** What each door answers, to the letter of its contract. */
export async function presentHire(app: AppServices, door: DoorName, answer: PurchaseResult): Promise<Answer> {
  switch (answer.kind) {
    case 'quote':
      return presentQuote(app, door, answer)
    case 'pending':
      return presentPending(app, answer)
    case 'done':
      return presentDone(app, door, answer)
  }
}

export function presentQuote(
  app: AppServices,
  door: DoorName,
  { quote, error, retryAfterSeconds }: Extract<PurchaseResult, { kind: 'quote' }>,
): Answer {
  const { reference, claim, expiresAt } = giveReference(app, quote)
  const { body, required } =
    error === undefined ? shownOnce(app, door, quote) : shown(app, door, quote, error)
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

function shown({ baseUrl }: AppServices, door: DoorName, quote: Quote, error?: string): Shown {
  // A client that speaks both versions believes this header before the body, so at the door of version 1 there is none.
  if (door === 'v1') return { body: firstVersionBody(quote, baseUrl, error), required: undefined }
  return { body: plainBody(quote, baseUrl, error), required: base64(versionTwoOf(quote, baseUrl, error)) }
}

const made = new WeakMap<Quote, Map<'v1' | 'v2', Shown>>()

/** The same for everybody who asks while a quote is kept. */
function shownOnce(app: AppServices, door: DoorName, quote: Quote): Shown {
  const versions = made.get(quote) ?? new Map<'v1' | 'v2', Shown>()
  made.set(quote, versions)
  const version = door === 'v1' ? 'v1' : 'v2'
  const known = versions.get(version) ?? shown(app, door, quote)
  versions.set(version, known)
  return known
}

function firstVersionBody(quote: Quote, baseUrl: string, error = 'X-PAYMENT header is required') {
  const resource = `${baseUrl}/api/x402/v1/pay?service_id=${quote.subject.replace('service:', '')}`
  return { x402Version: 1, error, accepts: firstVersionOf(quote, resource) }
}

const RETRY_SECONDS = 2

export function presentPending(
  app: AppServices,
  { network, reference }: Extract<PurchaseResult, { kind: 'pending' }>,
): Answer {
  const settled = {
    success: false,
    errorReason: 'settlement_pending',
    transaction: reference,
    network: app.facilitators[network]?.caip2,
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
export const responseHeaders = (app: AppServices, { network, reference, payer }: Done['purchase']) =>
  settledHeaders({
    success: true,
    transaction: reference,
    network: app.facilitators[network]?.caip2 ?? network,
    payer,
  })

type Done = Extract<PurchaseResult, { kind: 'done' }>

/** After this, words that can be guessed do not open an order any more: only the word in its own address does. */
const ANSWERED_AGAIN_MS = 24 * HOUR

async function presentDone(app: AppServices, door: DoorName, { purchase, isReplay }: Done): Promise<Answer> {
  const orderId = purchase.resultId as OrderId
  const { status } = await findOrder(app.db, orderId)
  const age = app.clock.now().getTime() - purchase.createdAt.getTime()
  const isOpen = !isReplay || purchase.requestKey !== null || age < ANSWERED_AGAIN_MS
  const word = isOpen ? `?t=${accessTokenOf(app, orderId)}` : ''
  const url = `${app.baseUrl}/api/x402/orders/${orderId}${word}`
  const order = { order_id: orderId, status }
  return {
    status: door === 'order' ? 201 : 200,
    body:
      door === 'discover'
        ? { ...order, result_url: url }
        : { success: true, data: { ...order, status_url: url } },
    headers: { ...responseHeaders(app, purchase), ...(isReplay && { 'Idempotent-Replayed': 'true' }) },
  }
}
