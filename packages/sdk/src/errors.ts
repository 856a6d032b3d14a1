interface Failure {
  readonly status: number
  readonly code: string
  readonly requestId?: string | undefined
  readonly details?: readonly FieldError[] | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly body?: unknown
  readonly headers?: Headers | undefined
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
  /** Stable, for programs: https://…/docs/contract/errors lists them. `unreachable` and `timeout` are of this client. */
  readonly code: string
  readonly requestId: string | undefined
  readonly details: readonly FieldError[]
  /** When the same request can succeed. */
  readonly retryAfterSeconds: number | undefined
  /** The whole body of the response. */
  readonly body: unknown
  /** The headers of the response; undefined when there was none. */
  readonly headers: Headers | undefined

  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options)
    this.status = failure.status
    this.code = failure.code
    this.requestId = failure.requestId
    this.details = failure.details ?? []
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.body = failure.body
    this.headers = failure.headers
  }
}

/** The error of a response that is not 2xx. */
export function errorOf(response: Response, body: unknown): MarketError {
  const { status, headers } = response
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  const textOf = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined)
  // A 402 has its code in `error` and the sentence in `message`.
  const code = textOf('code') ?? (status === 402 ? (textOf('error') ?? 'payment_required') : 'bad_response')
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

export function retryAfterOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after')
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined
}
