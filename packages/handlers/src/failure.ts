import type { FailureStatus } from '@market/contract/errors'
import { isOutage } from '@market/database/outage'
import { Refusal, type RefusalKind, unavailable } from '@market/kernel/refusal'

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
} as const satisfies Record<RefusalKind, FailureStatus>

export interface Failure {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** What an error answers. Only a refusal's own words leave; anything else answers a fixed sentence. */
export function failureOf(error: unknown, requestId: string): Failure {
  const refusal = asRefusal(error)
  if (refusal === undefined) {
    const error = 'Something went wrong on our side. It has been noted; try again.'
    return {
      status: 500,
      body: { success: false, error, code: 'internal', request_id: requestId },
      headers: {},
    }
  }
  const { code, details, retryAfterSeconds, fields } = refusal.extra
  return {
    status: STATUS[refusal.kind],
    body: {
      success: false,
      error: refusal.message,
      code: code ?? refusal.kind,
      request_id: requestId,
      ...(details && { details }),
      ...fields,
    },
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  }
}

/** A refusal as it is; an outage as the refusal it means; undefined for a fault of ours. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  return isOutage(error)
    ? unavailable('A part we depend on does not answer. Try again in a moment.', error)
    : undefined
}
