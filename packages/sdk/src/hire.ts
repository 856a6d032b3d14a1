import type { Connection } from './connection.ts'
import { MarketError, type PurchaseReference, retryAfterOf, withPurchase } from './errors.ts'
import { ROUTES } from './generated/routes.ts'
import type { OrderPage, PendingPurchase, Purchase } from './generated/types.ts'
import type { Payer } from './payers.ts'
import { limitTimeout, type PaymentNetwork } from './payment.ts'
import { chooseRequirement, encodePayment, readQuote } from './payment-required.ts'
import { isPassing, sendOnce, sendWithRetries, sleep } from './send.ts'
import { microsOf, usdOf } from './usdc.ts'

export type HireProgress =
  | {
      readonly step: 'quoted'
      readonly amountUsd: string
      readonly network: PaymentNetwork
      /** Pass it to a later call to get this purchase instead of a second one. */
      readonly idempotencyKey: string
    }
  | { readonly step: 'paid'; readonly orderId: string; readonly statusUrl: string }
  | { readonly step: 'delivered'; readonly orderId: string }

export interface HireOptions {
  /** The id of a service with a fixed price. */
  readonly service: string
  /** What the agent is to do. */
  readonly brief: string
  /** Answers to the requirement fields of the service. */
  readonly requirements?: Readonly<Record<string, unknown>>
  /** Who pays: `evmPayer(account)` or `solanaPayer(keypair)`. */
  readonly payer: Payer
  /** The most that it may cost with the fee, as a decimal text such as '5.50'. Above it nothing is signed. */
  readonly maxUsd: string
  /** Base or Solana by default. A payment is never moved to another network, so that a repetition cannot buy twice. */
  readonly network?: PaymentNetwork
  /**
   * 32 to 128 characters; random by default. A call with the same key, payer and fields within 24 hours continues the
   * same purchase and is not charged again.
   */
  readonly idempotencyKey?: string
  readonly onProgress?: (progress: HireProgress) => void
  /** Ends the wait. A purchase that was paid stays paid. The reason of the signal is thrown; `onProgress` has the key. */
  readonly signal?: AbortSignal
}

export interface Hired {
  readonly order: OrderPage['order']
  readonly deliverables: OrderPage['deliverables']
  /** Whoever has this URL can read the order. */
  readonly statusUrl: string
}

const ANONYMOUS_ORDER = ROUTES.getPurchasedOrder

/** The API decides about a signed payment within minutes: it expires after five. */
const PAYMENT_WAIT_MS = 900_000
const MAX_WAIT_SECONDS = 15

/** Buys a service by x402 and waits until it is delivered. Signs at most one payment. */
export async function hire(connection: Connection, options: HireOptions): Promise<Hired> {
  const { payer, onProgress, signal } = options
  const limit = microsOf(options.maxUsd)
  if (limit === undefined)
    throw new TypeError(`maxUsd is ${String(options.maxUsd)}, it must be a decimal text such as '5.50'.`)
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID()
  const quote = readQuote(await requestQuote(connection, options))
  const { requirement, network, amount } = chooseRequirement(quote, payer, options.network, limit)
  onProgress?.({ step: 'quoted', amountUsd: usdOf(amount), network, idempotencyKey })
  signal?.throwIfAborted()
  const payload = await payer.sign(limitTimeout(requirement))
  let reference: PurchaseReference = { idempotencyKey }
  try {
    signal?.throwIfAborted()
    const payment = encodePayment(quote, requirement, payload)
    const purchase = await pay(connection, options, { payment, idempotencyKey })
    const orderId = purchase.order_id
    reference = { idempotencyKey, orderId }
    const { input, statusUrl } = accessOf(connection, purchase)
    reference = { idempotencyKey, orderId, statusUrl }
    onProgress?.({ step: 'paid', orderId, statusUrl })
    const page = await untilDelivered(connection, input, signal)
    onProgress?.({ step: 'delivered', orderId })
    return { order: page.order, deliverables: page.deliverables, statusUrl }
  } catch (error) {
    // The reason of an abort is the caller's, who can use it for several calls, so it is not changed.
    if (signal?.aborted && error === signal.reason) throw error
    throw withPurchase(error, reference)
  }
}

const inputOf = ({ service, brief, requirements }: HireOptions) => ({
  service_id: service,
  brief,
  ...(requirements !== undefined && { requirements }),
})

/** The 402 response of a request without a payment. */
async function requestQuote(connection: Connection, options: HireOptions): Promise<MarketError> {
  const { signal } = options
  try {
    await sendWithRetries(connection.transport, () =>
      connection.prepare(ROUTES.payService, inputOf(options), { ...(signal && { signal }) }),
    )
  } catch (error) {
    if (error instanceof MarketError && error.status === 402) return error
    throw error
  }
  throw new MarketError('The API sold the service without a payment. Check apiUrl.', {
    status: 200,
    code: 'bad_response',
  })
}

interface Payment {
  readonly payment: string
  readonly idempotencyKey: string
}

/** Sends the payment until it is known what became of it. Every try is the same payment with the same key. */
async function pay(
  connection: Connection,
  options: HireOptions,
  { payment, idempotencyKey }: Payment,
): Promise<Purchase> {
  const { signal } = options
  const deadline = Date.now() + PAYMENT_WAIT_MS
  let last: MarketError | undefined
  for (let tries = 0; Date.now() < deadline; tries++) {
    const all = { payment, idempotencyKey, ...(signal && { signal }) }
    const prepared = await connection.prepare(ROUTES.payService, inputOf(options), all)
    const outcome = await sendOnce(connection.transport, prepared)
    if (outcome instanceof MarketError) {
      if (!isUndecided(outcome)) throw outcome
      last = outcome
    } else {
      const purchase = purchaseIn(outcome.body)
      if (purchase !== undefined) return purchase
    }
    await sleep(Math.min(waitMs(outcome, tries), deadline - Date.now()), signal)
  }
  throw new MarketError(
    `It is not known yet whether the payment took effect. Call hire again with idempotencyKey ${idempotencyKey}: it does not pay twice.`,
    { status: last?.status ?? 202, code: 'payment_pending', body: { idempotency_key: idempotencyKey } },
    { cause: last },
  )
}

/** The purchase of a response; undefined when it is pending, or when the response is not one of the API. */
function purchaseIn(body: unknown): Purchase | undefined {
  const { data } = (body ?? {}) as { readonly data?: Purchase | PendingPurchase | null }
  return typeof data === 'object' && data !== null && 'order_id' in data ? data : undefined
}

/**
 * Whether the same payment can still be accepted, or was already. Only another error of the API says that it was not used:
 * a proxy does not know.
 */
const isUndecided = (error: MarketError): boolean =>
  isPassing(error) ||
  error.status >= 500 ||
  error.code === 'bad_response' ||
  error.code === 'payment_in_progress' ||
  error.code === 'transaction_not_found_yet'

function waitMs(outcome: MarketError | { readonly response: Response }, tries: number): number {
  const asked =
    outcome instanceof MarketError ? outcome.retryAfterSeconds : retryAfterOf(outcome.response.headers)
  return 1_000 * (asked ?? Math.min(MAX_WAIT_SECONDS, 0.5 * 2 ** tries))
}

/** Only the access token is read from `status_url`: requests go to `apiUrl`, whatever host it names. */
function accessOf({ apiUrl }: Connection, { order_id, status_url }: Purchase) {
  const token = URL.canParse(status_url, apiUrl) ? new URL(status_url, apiUrl).searchParams.get('t') : null
  if (token === null)
    throw new MarketError(
      `Order ${order_id} was bought, but the response has no access token. Repeat the call with its idempotencyKey.`,
      { status: 200, code: 'bad_response' },
    )
  const path = `/api/x402/orders/${encodeURIComponent(order_id)}?t=${encodeURIComponent(token)}`
  return { input: { order_id, t: token }, statusUrl: apiUrl + path }
}

/** Reads the order until it is delivered. A lost connection does not end the wait. */
async function untilDelivered(
  connection: Connection,
  input: { readonly order_id: string; readonly t: string },
  signal: AbortSignal | undefined,
): Promise<OrderPage> {
  for (let reads = 0; ; reads++) {
    try {
      const page = (await connection.call(ANONYMOUS_ORDER, input, { ...(signal && { signal }) })) as OrderPage
      const { status } = page.order
      if (status === 'delivered' || status === 'completed') return page
      if (status === 'cancelled')
        throw new MarketError(
          `Order ${input.order_id} was cancelled before it was delivered; the payment is refunded to the wallet that paid.`,
          { status: 200, code: 'order_cancelled', body: page },
        )
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof MarketError) || !isPassing(error)) throw error
    }
    await sleep(Math.min(MAX_WAIT_SECONDS, 0.5 * 1.3 ** reads) * 1_000, signal)
  }
}
