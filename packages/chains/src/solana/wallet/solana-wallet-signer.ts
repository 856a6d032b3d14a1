import type { WalletIntent, WalletSigner } from '@market/core/ports/agent-wallets'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import type { Instruction } from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { expiringRail } from '../expiring-rail.ts'
import { findNamed } from '../find-named.ts'
import { type SolanaRpc, solanaNodes } from '../nodes.ts'
import { readLifetime } from '../read-lifetime.ts'
import type { SolanaPayoutSenderSettings } from '../settings.ts'
import { MEMO_PROGRAM, MICRO_LAMPORTS_PER_UNIT, memoOf, priceOf } from '../sign-payout.ts'
import { signTransaction } from '../sign-transaction.ts'
import { deriveMintKey } from './mint-key.ts'
import { MINT_COMPUTE_UNITS, mintInstructions } from './mint-transaction.ts'
import { seedSigner } from './seed-signer.ts'
import { sendComputeUnits, sendInstructions } from './send-transaction.ts'
import { walletReader } from './solana-wallet-reader.ts'

interface Plan {
  readonly computeUnits: number
  readonly instructions: readonly Instruction[]
  readonly mint: SolanaKeySigner | null
}

const planOf = async (
  rpc: SolanaRpc,
  usdc: string,
  keys: { readonly seed: Uint8Array; readonly wallet: string },
  intent: WalletIntent,
): Promise<Plan> => {
  if (intent.kind === 'send') {
    const instructions = await sendInstructions(rpc, usdc, keys.wallet, intent)
    return { computeUnits: sendComputeUnits(intent.asset), instructions, mint: null }
  }
  const mint = deriveMintKey(keys.seed, intent.kind)
  const accounts = { wallet: keys.wallet, mint: mint.address }
  const instructions = await mintInstructions(rpc, intent.kind, accounts, intent.token)
  return { computeUnits: MINT_COMPUTE_UNITS, instructions, mint }
}

/** Signs and sends for server wallets on Solana. It keeps no key. */
export const solanaWalletSigner = (settings: SolanaPayoutSenderSettings): WalletSigner => {
  const nodes = solanaNodes(settings)
  const { rpc } = nodes
  const firstPrice = settings.microLamportsPerUnit ?? MICRO_LAMPORTS_PER_UNIT
  return {
    ...walletReader(nodes, settings),
    ...expiringRail(nodes, settings.minProviders),
    find: (account, actionId, since) => findNamed(nodes, { account, actionId, since }, settings.minProviders),
    async sign(seed, { id, attempt, intent }) {
      const wallet = seedSigner(seed)
      const plan = await planOf(rpc, settings.usdc, { seed, wallet: wallet.address }, intent)
      const lifetime = await readLifetime(nodes, settings.minProviders)
      const instructions = [
        getSetComputeUnitLimitInstruction({ units: plan.computeUnits }),
        getSetComputeUnitPriceInstruction({ microLamports: priceOf(attempt, firstPrice) }),
        ...plan.instructions,
        // Without it, equal operations with the same blockhash would have the same signature, and one would be executed.
        getAddMemoInstruction({ memo: memoOf(id, attempt) }, { programAddress: MEMO_PROGRAM }),
      ]
      return signTransaction(instructions, wallet, lifetime, plan.mint === null ? [] : [plan.mint])
    },
    mintOf: (seed, kind) => (kind === 'send' ? null : deriveMintKey(seed, kind).address),
  }
}
