import { ApiError } from '@market/kernel/api-error'

export const malformedSignature = (expected: string): ApiError => {
  const message = `wallet_sig is not a signature: ${expected}`
  return new ApiError('invalid', message, { details: [{ path: 'wallet_sig', message }] })
}

export const badSignature = (): ApiError =>
  new ApiError(
    'unauthenticated',
    'wallet_sig is not a signature of this wallet for this request. Sign the exact text again and send it with the same wallet_sig_ts.',
    { code: 'bad_signature' },
  )
