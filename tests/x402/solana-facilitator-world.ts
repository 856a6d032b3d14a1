import { randomBytes } from 'node:crypto'
import { localSolanaSigner } from '@market/chains/local-signers'
import {
  openSolanaFacilitator,
  type SolanaFacilitatorSettings,
} from '@market/chains/solana/solana-facilitator'
import { usdc } from '@market/kernel/money'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { startSolanaWorld } from '../chains/solana-support.ts'
import { signNow } from './sign-now.ts'
import { type SolanaPayload, stockSolanaPayload } from './stock-solana-buyer.ts'

export const PRICE = usdc(550_000n)
const GAS = 1_000_000_000n

export const limitOf = (units = 20_000): Instruction => getSetComputeUnitLimitInstruction({ units })
export const priceOf = (microLamports = 1n): Instruction =>
  getSetComputeUnitPriceInstruction({ microLamports })

/** A treasury, a gas account, a buyer without native coin and the facilitator. */
export const startSolanaFacilitator = async () => {
  const solana = await startSolanaWorld()
  const seed = Uint8Array.from(randomBytes(32))
  const signer = await localSolanaSigner(seed)
  const gas = address(signer.address)
  await solana.chain.fundSol(gas, GAS)
  await solana.usdc.fund(solana.treasury.address, 0n)
  const buyer = await solana.wallet(100_000_000n)
  const settings: SolanaFacilitatorSettings = { ...solana.settings, gasAccount: gas, gasAccounts: [gas] }
  const facilitator = await openSolanaFacilitator(settings, signer)
  const quote = { asset: solana.usdc.mint, payTo: solana.treasury.address, amount: PRICE }

  return {
    solana,
    signer,
    gas,
    buyer,
    settings,
    facilitator,
    quote,
    pay: (who: KeyPairSigner = buyer) => stockSolanaPayload(who, facilitator, quote, solana.chain.url),
    /** A transaction of any instructions, signed by the signers whose keys are available. */
    async built(
      instructions: readonly Instruction[],
      { feePayer = gas, legacy = false }: { readonly feePayer?: Address; readonly legacy?: boolean } = {},
    ): Promise<SolanaPayload> {
      const { value } = await solana.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
      const message = legacy
        ? pipe(
            createTransactionMessage({ version: 'legacy' }),
            (one) => setTransactionMessageFeePayer(feePayer, one),
            (one) => setTransactionMessageLifetimeUsingBlockhash(value, one),
            (one) => appendTransactionMessageInstructions(instructions, one),
          )
        : pipe(
            createTransactionMessage({ version: 0 }),
            (one) => setTransactionMessageFeePayer(feePayer, one),
            (one) => setTransactionMessageLifetimeUsingBlockhash(value, one),
            (one) => appendTransactionMessageInstructions(instructions, one),
          )
      const signed = await partiallySignTransactionMessageWithSigners(message)
      return { transaction: getBase64EncodedWireTransaction(signed) }
    },
    /** Settles like the application: rejects or signs, stores, then broadcasts the stored transaction. */
    async settle(payment: SolanaPayload) {
      const rejected = await facilitator.rejectionReason(payment, PRICE)
      if (rejected !== undefined) throw new Error(rejected)
      const settlement = await signNow(facilitator, payment)
      await facilitator.send({ bytes: settlement.bytes })
      return settlement
    },
    stop: () => solana.stop(),
  }
}
