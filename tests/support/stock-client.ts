import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { type SchemeRegistration, x402Client } from '@x402/fetch'

/** What a stock client pays without being told otherwise is a dollar. */
export const SPEND_CONTROLS = { maxAmountPerPayment: '$60' } as const

export const clientOf = (...schemes: SchemeRegistration[]): x402Client =>
  x402Client.fromConfig({ schemes, spendControls: SPEND_CONTROLS })

/** What an unmodified client sends with its next request, when this one was answered with that. */
export const payWith = async (scheme: SchemeRegistration, required: string): Promise<string> =>
  encodePaymentSignatureHeader(
    await clientOf(scheme).createPaymentPayload(decodePaymentRequiredHeader(required)),
  )
