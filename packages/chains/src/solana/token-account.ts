import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import { type Address, address, type Commitment, getBase64Encoder } from '@solana/kit'
import {
  AccountState,
  findAssociatedTokenPda,
  getTokenDecoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
  type Token,
} from '@solana-program/token'
import type { SolanaRpc } from './nodes.ts'

const base64 = getBase64Encoder()

/** The wallet's associated token account for USDC. */
export const usdcAccountOf = async (owner: string, mint: string): Promise<Address> => {
  const [account] = await findAssociatedTokenPda({
    mint: address(mint),
    owner: address(owner),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return account
}

/** Undefined when the account does not exist or is not a token account. */
export const readTokenAccount = async (
  rpc: SolanaRpc,
  account: Address,
  commitment: Commitment,
): Promise<Token | undefined> => {
  const { value } = await rpc.getAccountInfo(account, { commitment, encoding: 'base64' }).send()
  if (value === null || value.owner !== TOKEN_PROGRAM_ADDRESS) return undefined
  const data = base64.encode(value.data[0])
  return data.length === getTokenSize() ? getTokenDecoder().decode(data) : undefined
}

export const isFrozen = (account: Token): boolean => account.state === AccountState.Frozen

/** USDC balance of a wallet. Zero when it has no token account. */
export const usdcOf = async (
  rpc: SolanaRpc,
  owner: string,
  mint: string,
  commitment: Commitment,
): Promise<Usdc> => {
  const account = await readTokenAccount(rpc, await usdcAccountOf(owner, mint), commitment)
  return account === undefined || account.mint !== mint ? ZERO : usdc(account.amount)
}
