import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import type { KeyPairSigner } from '@solana/kit'
import { x402Client } from '@x402/core/client'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { type Quote, requirementOf } from './requirement.ts'

export interface SolanaPayload extends SignedPayment {
  readonly transaction: string
}

/** The payload that an unmodified x402 client signs for this requirement. */
export const stockSolanaPayload = async (
  buyer: KeyPairSigner,
  facilitator: Facilitator,
  quote: Quote,
  rpcUrl: string,
): Promise<SolanaPayload> => {
  const client = new x402Client().register('solana:*', new ExactSvmScheme(buyer, { rpcUrl }))
  const { payload } = await client.createPaymentPayload(requirementOf(facilitator, quote))
  return payload as unknown as SolanaPayload
}
