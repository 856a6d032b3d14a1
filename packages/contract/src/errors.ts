/** Every status a failure can have, and what it means to a caller. */
export const FAILURES = {
  400: 'The request is malformed, a field is missing or invalid, or the state does not allow it',
  401: 'Credentials are missing, malformed, wrong or expired',
  402: 'Payment is required',
  403: 'The credentials are valid, but this is not the caller’s to do',
  404: 'There is no such thing, or not for this caller',
  408: 'The request took too long to arrive',
  409: 'The request conflicts with what is already there',
  413: 'The body is larger than 256 KB',
  415: 'The body is not JSON',
  422: 'The Idempotency-Key was used with another request',
  429: 'Too many requests; the headers say when to come back',
  431: 'The headers are too large',
  500: 'A fault of ours',
  503: 'A part we depend on is away; try again after Retry-After seconds',
} as const

export type FailureStatus = keyof typeof FAILURES
