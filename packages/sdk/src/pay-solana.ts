import {
  address,
  assertIsTransactionWithinSizeLimit,
  createSignerFromKeyPair,
  getTransactionDecoder,
  getTransactionEncoder,
  type TransactionModifyingSigner,
  type TransactionSigner,
} from '@solana/kit'
import type { PaymentRequirements } from '@x402/core/types'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { checkUsdc } from './check-usdc.ts'
import type { PaymentRequirement } from './payment.ts'
import { readKeypair, type SolanaKeypair } from './wallets.ts'

type SignedPayload = Promise<Readonly<Record<string, unknown>>>

/** Signs a transfer of exactly the amount of the requirement; the platform pays the fee. */
export const signSolanaPayment = async (
  keypair: SolanaKeypair,
  requirement: PaymentRequirement,
  rpcUrl: string | undefined,
): SignedPayload =>
  signTransfer(await createSignerFromKeyPair(await readKeypair(keypair)), requirement, rpcUrl)

/** The same by a wallet, which signs the bytes of a transaction. It may add instructions that guard the balance. */
export function signSolanaPaymentBy(
  wallet: { readonly address: string; readonly sign: (transaction: Uint8Array) => Promise<Uint8Array> },
  requirement: PaymentRequirement,
  rpcUrl: string | undefined,
): SignedPayload {
  const signer: TransactionModifyingSigner = {
    address: address(wallet.address),
    modifyAndSignTransactions: (transactions) =>
      Promise.all(
        transactions.map(async (transaction) => {
          const bytes = Uint8Array.from(getTransactionEncoder().encode(transaction))
          const signed = getTransactionDecoder().decode(await wallet.sign(bytes))
          assertIsTransactionWithinSizeLimit(signed)
          // The lifetime is only read by those who send it.
          return Object.assign(signed, { lifetimeConstraint: lifetimeOf(transaction) })
        }),
      ),
  }
  return signTransfer(signer, requirement, rpcUrl)
}

type Signed = Awaited<ReturnType<TransactionModifyingSigner['modifyAndSignTransactions']>>[number]

/** Of a blockhash, as every payment has it. */
const lifetimeOf = (transaction: object) =>
  (transaction as Pick<Signed, 'lifetimeConstraint'>).lifetimeConstraint

async function signTransfer(
  signer: TransactionSigner,
  requirement: PaymentRequirement,
  rpcUrl: string | undefined,
): SignedPayload {
  const required = requirement as PaymentRequirements
  const scheme = new ExactSvmScheme(signer, rpcUrl === undefined ? {} : { rpcUrl })
  checkUsdc(requirement, scheme.findDefaultAsset(required.asset, required.network))
  return (await scheme.createPaymentPayload(2, required)).payload
}
