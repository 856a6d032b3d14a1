import { ApiError } from '@market/kernel/api-error'

/** A wallet field is part of a credential, so a malformed one is rejected like a wrong signature. */
export const badWalletField = (path: string, message: string): ApiError =>
  new ApiError('unauthenticated', message, { code: 'bad_wallet_fields', details: [{ path, message }] })

export const malformedSignature = (expected: string): ApiError =>
  badWalletField('wallet_sig', `wallet_sig is not a signature: ${expected}`)

const BAD_SIGNATURE = 'bad_signature'

export const badSignature = (): ApiError =>
  new ApiError('unauthenticated', 'wallet_sig is not a signature of this wallet for this request.', {
    code: BAD_SIGNATURE,
  })

/** Tells the caller which purpose this request expects: a signature for another one looks like a wrong one. */
export const namingPurpose = (error: unknown, purpose: string): unknown =>
  error instanceof ApiError && error.extra.code === BAD_SIGNATURE
    ? new ApiError(
        'unauthenticated',
        `${error.message} It expects the purpose ${purpose}. Sign the exact text of GET /api/auth/message for it, and send the same wallet_sig_ts.`,
        { ...error.extra, fields: { expected_purpose: purpose } },
      )
    : error
