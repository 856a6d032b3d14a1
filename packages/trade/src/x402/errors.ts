import { ApiError } from '@market/kernel/api-error'
import type { SignInstructions } from './contest/signing.ts'

const signField = (sign: SignInstructions | undefined) => (sign === undefined ? {} : { fields: { sign } })

/** Does not say what was bought: a transaction is public, a purchase is not. */
export const usedAlready = (sign?: SignInstructions): ApiError =>
  new ApiError(
    'conflict',
    sign === undefined
      ? 'This payment was already used for another purchase. Use another payment.'
      : 'This payment was already used for another purchase. If you made it, sign `sign.message` with the wallet that paid and send this request again with the signature. Otherwise use another payment.',
    { code: 'payment_already_used', ...signField(sign) },
  )

/** Two requests with different content named one transfer. */
export const contested = (sign?: SignInstructions): ApiError =>
  new ApiError(
    'conflict',
    'Another request named this payment first, so no money leaves until it is decided whose it is. If you made the payment, sign `sign.message` with the wallet that paid and send this request again with the signature: you get what you sign for at once.',
    { code: 'payment_contested', ...signField(sign) },
  )

/** Only the proven payer gets this error. */
export const refunded = (): ApiError =>
  new ApiError(
    'conflict',
    'Another caller used your payment and a part of it was already returned to your wallet. The rest is being refunded to it too. Pay again.',
    { code: 'payment_refunded' },
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
