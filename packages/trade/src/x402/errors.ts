import { ApiError } from '@market/kernel/api-error'

/** Says nothing of whose it is: a transaction is public, what was bought with it is not. */
export const usedAlready = (): ApiError =>
  new ApiError('conflict', 'This payment was already used for something else. Each payment buys one thing.', {
    code: 'payment_already_used',
  })

/** Only who has proven to have made the payment is told. */
export const contested = (): ApiError =>
  new ApiError(
    'conflict',
    'Somebody hired with your payment and was delivered. Nothing leaves for it: an operator decides whose it is, and if it is yours it comes back to your wallet.',
    { code: 'payment_contested' },
  )

export const inProgress = (): ApiError =>
  new ApiError('conflict', 'This payment is being seen through by another request. Ask again in a moment.', {
    code: 'payment_in_progress',
    retryAfterSeconds: 2,
  })
