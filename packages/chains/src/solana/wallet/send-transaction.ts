import {
  isToken,
  type WalletAsset,
  type WalletIntent,
  type WalletToken,
} from '@market/core/ports/agent-wallets'
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
import { accountOf, readAccount } from './token-mint.ts'
import { requireMint } from './wallet-tokens.ts'

/** SOL: the transfer takes 150, and a memo of 100 bytes less than half of it. */
const SOL_COMPUTE_UNITS = 60_000
/** Token-2022 needs more than the Token program to create an account, and for each extension. */
const TOKEN_COMPUTE_UNITS = 150_000

export const sendComputeUnits = (asset: WalletAsset): number => {
  if (isToken(asset)) return TOKEN_COMPUTE_UNITS
  return asset === 'SOL' ? SOL_COMPUTE_UNITS : TRANSFER_COMPUTE_UNITS
}

const lacksAccount = async (rpc: SolanaRpc, owner: string, usdc: string): Promise<boolean> =>
  (await readTokenAccount(rpc, await usdcAccountOf(owner, usdc), 'confirmed')) === undefined

/** The size of the token account that the payee does not have yet; 0 when it needs none. */
const newAccountBytes = async (
  rpc: SolanaRpc,
  usdc: string,
  asset: WalletAsset,
  to: string,
): Promise<number> => {
  if (isToken(asset)) {
    const mint = await requireMint(rpc, asset)
    return (await readAccount(rpc, to, mint)) === undefined ? mint.accountBytes : 0
  }
  return asset === 'USDC' && (await lacksAccount(rpc, to, usdc)) ? getTokenSize() : 0
}

/** The fee, and the rent of the payee's token account when it does not exist. */
export const sendCost = async (
  rpc: SolanaRpc,
  usdc: string,
  { asset, to }: { readonly asset: WalletAsset; readonly to: string },
  microLamportsPerUnit: bigint,
): Promise<bigint> => {
  const fee = feeOf(1, sendComputeUnits(asset), microLamportsPerUnit)
  const bytes = await newAccountBytes(rpc, usdc, asset, to)
  return bytes === 0 ? fee : fee + (await rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send())
}

/** Transfers a token of either program. The checked transfer fails when the mint has other decimals. */
const tokenInstructions = async (
  rpc: SolanaRpc,
  wallet: string,
  token: WalletToken,
  { to, amount }: { readonly to: string; readonly amount: bigint },
): Promise<Instruction[]> => {
  const found = await requireMint(rpc, token)
  const [mint, owner, tokenProgram] = [address(token.mint), address(to), found.program]
  const authority = createNoopSigner(address(wallet))
  const [source, ata, existing] = await Promise.all([
    accountOf(wallet, found),
    accountOf(to, found),
    readAccount(rpc, to, found),
  ])
  return [
    ...(existing === undefined
      ? [getCreateAssociatedTokenIdempotentInstruction({ payer: authority, ata, owner, mint, tokenProgram })]
      : []),
    getTransferCheckedInstruction(
      { source, mint, destination: ata, authority, amount, decimals: token.decimals },
      { programAddress: tokenProgram },
    ),
  ]
}

/** Transfers SOL, USDC or a token. The wallet pays for the payee's token account when it does not exist. */
export const sendInstructions = async (
  rpc: SolanaRpc,
  usdc: string,
  wallet: string,
  { asset, to, amount }: Extract<WalletIntent, { kind: 'send' }>,
): Promise<Instruction[]> => {
  assert(amount > 0n, 'an amount to send is positive')
  if (isToken(asset)) return tokenInstructions(rpc, wallet, asset, { to, amount })
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
