export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable'

export type Details = readonly { readonly path: string; readonly message: string }[]

export interface ErrorExtra {
  /** Stable machine word beside the sentence; the kind itself when nothing finer is known. */
  readonly code?: string
  readonly details?: Details
  /** Answered as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Top-level fields the contract adds beside `error`, such as `existing_agent`. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An expected "no", safe to show the caller. Anything else that is thrown is a fault and answers 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly kind: ErrorKind
  readonly extra: ErrorExtra

  constructor(kind: ErrorKind, message: string, extra: ErrorExtra = {}) {
    super(message)
    this.kind = kind
    this.extra = extra
  }
}

/** A dependency is away: the caller is told to come back, and the reason stays in our log. */
export const unavailable = (message: string, cause?: unknown): ApiError => {
  const apiError = new ApiError('unavailable', message, { retryAfterSeconds: 2 })
  if (cause !== undefined) apiError.cause = cause
  return apiError
}
