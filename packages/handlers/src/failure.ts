import type { FailureStatus } from '@market/contract/errors'
import { isOutage } from '@market/database/outage'
import { ApiError, type ErrorKind, unavailable } from '@market/kernel/api-error'

const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
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
}

/** What an error answers. Only a error's own words leave; anything else answers a fixed sentence. */
export function failureOf(error: unknown, requestId: string): Failure {
  const apiError = asApiError(error)
  if (apiError === undefined) {
    const error = 'Something went wrong on our side. It has been noted; try again.'
    return {
      status: 500,
      body: { success: false, error, code: 'internal', request_id: requestId },
      headers: {},
    }
  }
  const { code, details, retryAfterSeconds, fields } = apiError.extra
  return {
    status: STATUS[apiError.kind],
    body: {
      success: false,
      error: apiError.message,
      code: code ?? apiError.kind,
      request_id: requestId,
      ...(details && { details }),
      ...fields,
    },
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  }
}

/** A error as it is; an outage as the error it means; undefined for a fault of ours. */
export function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return isOutage(error)
    ? unavailable('A part we depend on does not answer. Try again in a moment.', error)
    : undefined
}
