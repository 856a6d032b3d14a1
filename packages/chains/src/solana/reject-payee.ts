import { address } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { parseWallet } from '../signatures/parse-wallet.ts'
import type { SolanaRpc } from './nodes.ts'
import { isFrozen, readTokenAccount, usdcAccountOf } from './token-account.ts'

/** Why the address is not that of a wallet, so that nobody could spend what it receives, or undefined. */
export const rejectAddress = async (rpc: SolanaRpc, payee: string): Promise<string | undefined> => {
  if (parseWallet(payee, 'solana') === undefined) return 'The payee is not a Solana wallet that can sign'
  const { value } = await rpc
    .getAccountInfo(address(payee), { encoding: 'base64', dataSlice: { offset: 0, length: 0 } })
    .send()
  // The keys of token accounts, mints and programs are usually discarded, so the money could not be moved again.
  return value === null || value.owner === SYSTEM_PROGRAM_ADDRESS
    ? undefined
    : 'The payee is an account of a program, not a wallet'
}

/** Why USDC can never be paid to this address, or undefined. */
export const rejectPayee = async (
  rpc: SolanaRpc,
  mint: string,
  own: ReadonlySet<string>,
  payee: string,
): Promise<string | undefined> => {
  if (own.has(payee)) return 'The payee is a wallet of the marketplace'
  const rejected = await rejectAddress(rpc, payee)
  if (rejected !== undefined) return rejected
  const account = await readTokenAccount(rpc, await usdcAccountOf(payee, mint), 'confirmed')
  if (account === undefined) return undefined
  if (account.owner !== payee) return "The payee's USDC account belongs to another wallet"
  return isFrozen(account) ? "The payee's USDC account is frozen by its issuer" : undefined
}
