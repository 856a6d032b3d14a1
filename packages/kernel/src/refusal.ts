export type RefusalKind =
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

export interface RefusalExtra {
  /** Stable machine word beside the sentence; the kind itself when nothing finer is known. */
  readonly code?: string
  readonly details?: Details
  /** Answered as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Top-level fields the contract adds beside `error`, such as `existing_agent`. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An expected "no", safe to show the caller. Anything else that is thrown is a fault and answers 500. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly kind: RefusalKind
  readonly extra: RefusalExtra

  constructor(kind: RefusalKind, message: string, extra: RefusalExtra = {}) {
    super(message)
    this.kind = kind
    this.extra = extra
  }
}

/** A dependency is away: the caller is told to come back, and the reason stays in our log. */
export const unavailable = (message: string, cause?: unknown): Refusal => {
  const refusal = new Refusal('unavailable', message, { retryAfterSeconds: 2 })
  if (cause !== undefined) refusal.cause = cause
  return refusal
}
