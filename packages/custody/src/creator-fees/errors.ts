import { ApiError } from '@market/kernel/api-error'
import type { CreatorFeeId } from './creator-fee.ts'

export const feeNotFound = (): ApiError =>
  new ApiError('not_found', 'There is no creator fee with this id. GET /api/admin/creator-fees lists them.', {
    code: 'creator_fee_not_found',
  })

export const feeReversed = (id: CreatorFeeId): ApiError =>
  new ApiError(
    'conflict',
    `Two operators reversed the creator fee ${id}. Record its transaction again to settle it.`,
    { code: 'creator_fee_reversed' },
  )

export const feesNotConfigured = (): ApiError =>
  new ApiError(
    'unavailable',
    'Creator fees are not available: SOLANA_CREATOR_FEE_WALLET is not set. Nothing was changed.',
    { code: 'creator_fees_unavailable', retryAfterSeconds: 60 },
  )
