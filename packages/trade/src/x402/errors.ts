import { ApiError } from '@market/kernel/api-error'

/** Does not say what was bought: a transaction is public, a purchase is not. */
export const usedAlready = (): ApiError =>
  new ApiError('conflict', 'This payment was already used for another purchase. Use another payment.', {
    code: 'payment_already_used',
  })

/** Only the proven payer gets this error. */
export const contested = (): ApiError =>
  new ApiError(
    'conflict',
    'Another caller bought a service with your payment, and it was delivered. An operator decides; until then no money leaves. If the payment is yours, it is refunded to your wallet.',
    { code: 'payment_contested' },
  )

export const inProgress = (): ApiError =>
  new ApiError(
    'conflict',
    'This payment is being processed by another request. Send this request again in 2 seconds.',
    {
      code: 'payment_in_progress',
      retryAfterSeconds: 2,
    },
  )
