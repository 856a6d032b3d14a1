import type { WalletAsset, WalletIntent } from '@market/core/ports/agent-wallets'
import { assert } from '@market/kernel/assert'
import { address, createNoopSigner, type Instruction } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTokenSize,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import type { SolanaRpc } from '../nodes.ts'
import { USDC_DECIMALS } from '../settings.ts'
import { feeOf, TRANSFER_COMPUTE_UNITS } from '../sign-payout.ts'
import { readTokenAccount, usdcAccountOf } from '../token-account.ts'

/** SOL: the transfer takes 150, and a memo of 100 bytes less than half of it. */
export const SEND_COMPUTE_UNITS: Readonly<Record<WalletAsset, number>> = {
  SOL: 60_000,
  USDC: TRANSFER_COMPUTE_UNITS,
}

const lacksAccount = async (rpc: SolanaRpc, owner: string, usdc: string): Promise<boolean> =>
  (await readTokenAccount(rpc, await usdcAccountOf(owner, usdc), 'confirmed')) === undefined

/** The fee, and the rent of the payee's USDC account when it does not exist. */
export const sendCost = async (
  rpc: SolanaRpc,
  usdc: string,
  { asset, to }: { readonly asset: WalletAsset; readonly to: string },
  microLamportsPerUnit: bigint,
): Promise<bigint> => {
  const fee = feeOf(1, SEND_COMPUTE_UNITS[asset], microLamportsPerUnit)
  if (asset === 'SOL' || !(await lacksAccount(rpc, to, usdc))) return fee
  return fee + (await rpc.getMinimumBalanceForRentExemption(BigInt(getTokenSize())).send())
}

/** Transfers SOL or USDC. The wallet pays for the payee's USDC account when it does not exist. */
export const sendInstructions = async (
  rpc: SolanaRpc,
  usdc: string,
  wallet: string,
  { asset, to, amount }: Extract<WalletIntent, { kind: 'send' }>,
): Promise<Instruction[]> => {
  assert(amount > 0n, 'an amount to send is positive')
  const source = createNoopSigner(address(wallet))
  if (asset === 'SOL') return [getTransferSolInstruction({ source, destination: address(to), amount })]
  const [mint, owner] = [address(usdc), address(to)]
  const [from, ata, mustCreate] = await Promise.all([
    usdcAccountOf(wallet, usdc),
    usdcAccountOf(to, usdc),
    lacksAccount(rpc, to, usdc),
  ])
  const transfer = { source: from, mint, destination: ata, authority: source, amount }
  return [
    ...(mustCreate
      ? [getCreateAssociatedTokenIdempotentInstruction({ payer: source, ata, owner, mint })]
      : []),
    getTransferCheckedInstruction({ ...transfer, decimals: USDC_DECIMALS }),
  ]
}
