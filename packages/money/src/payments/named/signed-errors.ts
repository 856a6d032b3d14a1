import { ApiError, type Details } from '@market/kernel/api-error'
import { formatUsd, type Usdc } from '@market/kernel/money'

/** Why a signed payment was not submitted. Nothing was charged in any of these cases. */

export const malformed = (): ApiError =>
  new ApiError(
    'invalid',
    'signed_payment.payload is not a payment of the exact scheme on its network. Sign a `requirement` of `payment`, and send what x402 version 2 makes of it.',
    { code: 'malformed_payment' },
  )

export const priceChanged = (due: Usdc, signedFor: string): ApiError =>
  new ApiError(
    'conflict',
    `The payment was signed for ${signedFor} but ${formatUsd(due)} USDC is due. Nothing was charged. Sign a payment of ${formatUsd(due)} USDC if you agree to this price.`,
    { code: 'price_changed' },
  )

export const tooLittle = (message: string): ApiError =>
  new ApiError('invalid', `${message} Nothing was charged.`, { code: 'insufficient_funds' })

export const tooManyFailed = (payer: string): ApiError =>
  new ApiError(
    'conflict',
    `Too many payments of ${payer} failed on the chain. Try again in an hour, or pay with a transfer that you make.`,
    { code: 'too_many_failed_payments' },
  )

/** Whoever has a signed payment can submit it, and its wallet can cancel it. */
export const authorizationUsed = (): ApiError =>
  new ApiError(
    'conflict',
    'The authorization of this signed payment was used or cancelled on the chain before we submitted it. If it moved USDC to us, send the hash of its transaction as `escrow_tx_hash`; else sign a new payment.',
    { code: 'payment_already_used' },
  )

/** What the codes of the protocol mean, by their ends: the same for both kinds of networks where both have them. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/recipient_mismatch$/, 'it does not pay to payTo of the requirement'],
  [/(value|amount)_mismatch$/, 'it was signed for another amount'],
  [/mint_mismatch$/, 'it does not pay with asset of the requirement'],
  [/valid_before$/, 'it has expired, or is valid for more than an hour. Check the clock of this device'],
  [/valid_after$/, 'it is not valid yet. Check the clock of this device'],
  [/signature(_invalid)?$/, 'the signature is not one of the paying wallet for this token and network'],
  [/undeployed_smart_wallet$/, 'the smart wallet is not deployed on this network'],
  [
    /simulation_failed$/,
    'the network would not execute it. It may have expired, or the issuer of USDC blocks the wallet',
  ],
]

/** `reason` is a code of x402, or says itself what is wrong. */
export function paymentRejected(reason: string, details?: Details): ApiError {
  const sentence = SENTENCES.find(([code]) => code.test(reason))?.[1]
  return new ApiError(
    'invalid',
    `The signed payment cannot be used: ${sentence ?? reason}${sentence === undefined ? '' : ` (${reason})`}. Nothing was charged. Sign a new payment.`,
    { code: 'payment_rejected', ...(details && { details }) },
  )
}
