import { ExactEvmScheme } from '@x402/evm/exact/client'
import { signAuthorization } from './authorization.ts'
import { checkUsdc } from './check-usdc.ts'
import type { EvmPayerAccount, PaymentRequirement } from './payment.ts'

/** Signs an EIP-3009 authorization of exactly the amount of the requirement. */
export async function signEvmPayment(
  account: EvmPayerAccount,
  requirement: PaymentRequirement,
): Promise<Readonly<Record<string, unknown>>> {
  const { asset, network, extra } = requirement
  checkUsdc(requirement, new ExactEvmScheme(account).findDefaultAsset(asset, network as `eip155:${number}`))
  // Permit2 would need an allowance of the token, which a hire never asks for.
  if ((extra['assetTransferMethod'] ?? 'eip3009') !== 'eip3009')
    throw new TypeError('The API asks for a payment other than EIP-3009. Nothing was signed.')
  return signAuthorization(account.address, requirement, (data) => account.signTypedData(data as never))
}
