/** The HTTP status codes of errors. */
export const FAILURES = {
  400: 'The request is malformed, a field is missing or invalid, or the state does not allow it',
  401: 'Credentials are missing, malformed, wrong or expired',
  402: 'Payment is required',
  403: 'The credentials are valid but do not allow this operation',
  404: 'The resource does not exist or is not visible to the caller',
  408: 'The request took too long to arrive',
  409: 'The request conflicts with the current state',
  413: 'The body is larger than 256 KB, or an uploaded file larger than 50 MB',
  415: 'The body is not JSON; for an upload, not a form',
  422: 'The Idempotency-Key was already used for a different request',
  429: 'Too many requests. Retry-After says when to try again',
  431: 'The headers are too large',
  500: 'An internal error',
  503: 'Temporarily unavailable. Try again after Retry-After seconds',
} as const

export type FailureStatus = keyof typeof FAILURES
