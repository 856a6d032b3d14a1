import { TooFewProviders } from '@market/core/ports/chain'
import { isOutage } from '@market/database/outage'
import { ApiError, type ErrorKind, unavailable } from '@market/kernel/api-error'
import type { ApiResponse } from './call.ts'
import type { FailureStatus } from './failure-statuses.ts'
import { limitHeaders } from './limit.ts'

const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  too_slow: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<ErrorKind, FailureStatus>

export interface Failure {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly cookie?: NonNullable<ApiResponse['cookie']>
}

/** The response for an error. Only the message of an `ApiError` is sent; other errors get a fixed message. */
export function failureOf(error: unknown, requestId: string): Failure {
  const apiError = asApiError(error)
  if (apiError === undefined) {
    const error = 'An internal error occurred and was logged. Try again.'
    return {
      status: 500,
      body: { success: false, error, code: 'internal', request_id: requestId },
      headers: {},
    }
  }
  const { details, retryAfterSeconds, limit, fields, removesCookie } = apiError.extra
  return {
    status: STATUS[apiError.kind],
    body: {
      success: false,
      error: apiError.message,
      code: apiError.code,
      request_id: requestId,
      ...(details && { details }),
      ...fields,
    },
    headers: {
      ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      ...(limit && limitHeaders({ ...limit, remaining: 0 })),
    },
    ...(removesCookie && { cookie: {} }),
  }
}

/** Returns an `ApiError` unchanged, an outage as a 503 error, and undefined for an internal error. */
export function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return isOutage(error) || error instanceof TooFewProviders
    ? unavailable('A service we depend on does not respond. Try again in a moment.', error)
    : undefined
}
