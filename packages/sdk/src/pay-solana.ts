import { createSignerFromKeyPair } from '@solana/kit'
import type { PaymentRequirements } from '@x402/core/types'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { checkUsdc } from './check-usdc.ts'
import type { PaymentRequirement } from './payment.ts'
import { readKeypair, type SolanaKeypair } from './wallets.ts'

/** Signs a transfer of exactly the amount of the requirement; the platform pays the fee. */
export async function signSolanaPayment(
  keypair: SolanaKeypair,
  requirement: PaymentRequirement,
  rpcUrl: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const required = requirement as PaymentRequirements
  const signer = await createSignerFromKeyPair(await readKeypair(keypair))
  const scheme = new ExactSvmScheme(signer, rpcUrl === undefined ? {} : { rpcUrl })
  checkUsdc(requirement, scheme.findDefaultAsset(required.asset, required.network))
  return (await scheme.createPaymentPayload(2, required)).payload
}
