import type { PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { checkUsdc } from './check-usdc.ts'
import type { EvmPayerAccount, PaymentRequirement } from './payment.ts'

/** Signs an EIP-3009 authorization of exactly the amount of the requirement. */
export async function signEvmPayment(
  account: EvmPayerAccount,
  requirement: PaymentRequirement,
): Promise<Readonly<Record<string, unknown>>> {
  const required = requirement as PaymentRequirements
  const scheme = new ExactEvmScheme(account)
  checkUsdc(requirement, scheme.findDefaultAsset(required.asset, required.network))
  // Permit2 would need an allowance of the token, which a hire never asks for.
  if ((required.extra['assetTransferMethod'] ?? 'eip3009') !== 'eip3009')
    throw new TypeError('The API asks for a payment other than EIP-3009. Nothing was signed.')
  return (await scheme.createPaymentPayload(2, required)).payload
}
