import { ApiError } from '@market/kernel/api-error'

/** For every way in which an interaction or a login cannot go on: the user does the same about each. */
export const ended = (): ApiError =>
  new ApiError(
    'invalid',
    'This request has ended or began in another browser. Sign in again, or go back to the program and connect again.',
  )
