import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { type SchemeRegistration, x402Client } from '@x402/fetch'

/** By default the x402 client pays at most one dollar. */
export const SPEND_CONTROLS = { maxAmountPerPayment: '$60' } as const

export const clientOf = (...schemes: SchemeRegistration[]): x402Client =>
  x402Client.fromConfig({ schemes, spendControls: SPEND_CONTROLS })

/** The payment header that an unmodified client sends after this PAYMENT-REQUIRED header. */
export const payWith = async (scheme: SchemeRegistration, required: string): Promise<string> =>
  encodePaymentSignatureHeader(
    await clientOf(scheme).createPaymentPayload(decodePaymentRequiredHeader(required)),
  )
