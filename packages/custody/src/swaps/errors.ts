import type { SignedSwapFlaw } from '@market/core/ports/swaps'
import { ApiError } from '@market/kernel/api-error'
import type { SwapId } from '@market/kernel/ids'
import { formatUsd, type Usdc } from '@market/kernel/money'

export const walletNotLinked = (wallet: string): ApiError =>
  new ApiError(
    'forbidden',
    `${wallet} is not a Solana wallet that is linked to your account. Link it at your identity provider and sign in again.`,
    { code: 'wallet_not_linked' },
  )

export const notOffered = (amount: Usdc): ApiError =>
  new ApiError(
    'conflict',
    `The venue does not offer this swap. Check that the wallet holds ${formatUsd(amount)} USDC, or try another amount.`,
    { code: 'swap_not_offered' },
  )

/** The cause is logged: a venue or price source that causes this error does not work as configured. */
const withCause = (error: ApiError, cause: string): ApiError => {
  error.cause = new Error(cause)
  return error
}

export const quoteRejected = (reason: string): ApiError =>
  withCause(
    new ApiError(
      'unavailable',
      `The venue returned a transaction that is not this swap (${reason}). Nothing was moved. Try again later.`,
      { code: 'swap_rejected', retryAfterSeconds: 2 },
    ),
    `the swap venue's transaction was rejected: ${reason}`,
  )

export const quoteTooLow = (): ApiError =>
  withCause(
    new ApiError(
      'unavailable',
      'The venue quotes a price that is more than 5 % worse than the market price. Nothing was moved. Try again later.',
      { code: 'swap_price_too_low', retryAfterSeconds: 2 },
    ),
    'the swap venue quoted more than 5 % below our price',
  )

export const priceUnavailable = (): ApiError =>
  withCause(
    new ApiError(
      'unavailable',
      'The price source has no price of SOL, so the quote cannot be checked. Nothing was moved. Try again later.',
      { code: 'swap_price_unavailable', retryAfterSeconds: 2 },
    ),
    'the price source has no positive price of SOL',
  )

export const swapNotFound = (): ApiError =>
  new ApiError('not_found', 'You have no swap with this id. Order one with POST /api/swap/order.', {
    code: 'swap_not_found',
  })

const SIGNED_FLAWS: Readonly<Record<SignedSwapFlaw | 'changed', string>> = {
  unreadable: 'signed_transaction is not a Solana transaction in base64.',
  not_signed: 'signed_transaction lacks a valid signature. Sign the ordered transaction with your wallet.',
  changed: 'signed_transaction is not the transaction that was ordered. Sign it without changing it.',
}

export const badSignedTransaction = (flaw: SignedSwapFlaw | 'changed'): ApiError =>
  new ApiError('invalid', SIGNED_FLAWS[flaw], {
    code: 'swap_transaction_invalid',
    details: [{ path: 'signed_transaction', message: SIGNED_FLAWS[flaw] }],
  })

export const swapExpired = (expiresAt: Date): ApiError =>
  new ApiError('conflict', `This swap expired at ${expiresAt.toISOString()}. Order a new one.`, {
    code: 'swap_expired',
  })

export const otherSignature = (id: SwapId): ApiError =>
  new ApiError(
    'conflict',
    `${id} was submitted with another signature. Send the same signed_transaction again to read its status.`,
    { code: 'swap_already_submitted' },
  )
