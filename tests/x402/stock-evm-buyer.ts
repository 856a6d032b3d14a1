import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Hex, PrivateKeyAccount } from 'viem'
import { type Quote, requirementOf } from './requirement.ts'

/** The JSON of an EIP-3009 payload. */
export interface EvmPayload extends SignedPayment {
  readonly signature: Hex
  readonly authorization: {
    readonly from: Hex
    readonly to: Hex
    readonly value: string
    readonly validAfter: string
    readonly validBefore: string
    readonly nonce: Hex
  }
}

type TypedData = Parameters<PrivateKeyAccount['signTypedData']>[0]

/** The payload that an unmodified x402 client signs for this requirement. */
export const stockEvmPayload = async (
  buyer: Pick<PrivateKeyAccount, 'address' | 'signTypedData'>,
  facilitator: Pick<Facilitator, 'caip2' | 'extra'>,
  quote: Quote,
): Promise<EvmPayload> => {
  const signer = {
    address: buyer.address,
    signTypedData: (typed: unknown) => buyer.signTypedData(typed as TypedData),
  }
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(signer))
  const { payload } = await client.createPaymentPayload(requirementOf(facilitator, quote))
  return payload as unknown as EvmPayload
}
