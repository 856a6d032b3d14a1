interface Failure {
  readonly status: number
  readonly code: string
  readonly requestId?: string | undefined
  readonly details?: readonly FieldError[] | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly body?: unknown
  readonly headers?: Headers | undefined
}

/** The purchase that a failed hire can be continued with. */
export interface PurchaseReference {
  readonly idempotencyKey: string
  readonly orderId?: string
  readonly statusUrl?: string
}

/** What is wrong with one field of a request. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** An error response of the API, or a request that got no response. `message` says what to do. */
export class MarketError extends Error {
  override readonly name = 'MarketError'
  /** The HTTP status; 0 when there was no response. */
  readonly status: number
  /** Stable, for programs: https://…/docs/contract/errors lists them. The README of this package lists those of this client. */
  readonly code: string
  readonly requestId: string | undefined
  readonly details: readonly FieldError[]
  /** When the same request can succeed. */
  readonly retryAfterSeconds: number | undefined
  /** The whole body of the response. */
  readonly body: unknown
  /** The headers of the response; undefined when there was none. */
  readonly headers: Headers | undefined
  /** Of a hire whose payment was signed. Pass it to `hire` again to continue this purchase instead of a second one. */
  readonly idempotencyKey: string | undefined
  /** Of a hire that was paid. */
  readonly orderId: string | undefined
  /** Of a hire that was paid. Whoever has this URL can read the order. */
  readonly statusUrl: string | undefined

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options)
    this.status = failure.status
    this.code = failure.code
    this.requestId = failure.requestId
    this.details = failure.details ?? []
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.body = failure.body
    this.headers = failure.headers
    this.idempotencyKey = undefined
    this.orderId = undefined
    this.statusUrl = undefined
  }
}

/** Adds what continues the purchase to an error of a hire after its payment was signed. */
export const withPurchase = (error: unknown, reference: PurchaseReference): unknown =>
  error instanceof Error && Object.isExtensible(error) ? Object.assign(error, reference) : error

/** The error of a response that is not 2xx. */
export function errorOf(response: Response, body: unknown): MarketError {
  const { status, headers } = response
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const textOf = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined)
  // A 402 has its code in `error` and the sentence in `message`.
  const code = textOf('code') ?? (status === 402 ? textOf('error') : undefined) ?? 'bad_response'
  const message =
    textOf('message') ??
    textOf('error') ??
    `${response.url} sent a response of status ${status} that is not one of Agent Market. Check apiUrl.`
  return new MarketError(message, {
    status,
    code,
    requestId: textOf('request_id') ?? headers.get('x-request-id') ?? undefined,
    details: Array.isArray(fields['details']) ? fields['details'] : undefined,
    retryAfterSeconds: retryAfterOf(headers),
    body,
    headers,
  })
}

/** `Retry-After` in seconds. A date counts as absent: the API sends none. */
export function retryAfterOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after')
  return seconds !== null && /^\d+$/.test(seconds)
    ? Math.min(Number(seconds), Number.MAX_SAFE_INTEGER)
    : undefined
}
