import type { ErrorCode, JobErrorCode } from '@market/contract/error-codes'

export type { ErrorCode }

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'too_slow'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable'

export type Details = readonly { readonly path: string; readonly message: string }[]

export interface ErrorExtra {
  /** Stable error code for programs. Defaults to the kind. */
  readonly code?: ErrorCode | JobErrorCode
  readonly details?: Details
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** The limit that rejected the request, sent as `X-RateLimit` headers. */
  readonly limit?: { readonly max: number; readonly resetsAt: Date }
  /** The session of the browser has ended, so the response removes its cookie. */
  readonly removesCookie?: true
  /** Additional top-level fields of the error response, such as `existing_agent`. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An expected error whose message is safe to return to the caller. Any other thrown error becomes a 500 response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly kind: ErrorKind
  readonly extra: ErrorExtra

  constructor(kind: ErrorKind, message: string, extra: ErrorExtra = {}) {
    super(message)
    this.kind = kind
    this.extra = extra
  }

  /** Job codes are caught by jobs, so a response has none of them. */
  get code(): ErrorCode {
    return (this.extra.code ?? this.kind) as ErrorCode
  }
}

/** A dependency cannot be reached. The response asks the caller to retry, and the cause is only logged. */
export const unavailable = (message: string, cause?: unknown): ApiError => {
  const apiError = new ApiError('unavailable', message, { retryAfterSeconds: 2 })
  if (cause !== undefined) apiError.cause = cause
  return apiError
}
