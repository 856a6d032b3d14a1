import { assert } from '@market/kernel/assert'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import {
  type Address,
  address,
  type Base64EncodedBytes,
  type Commitment,
  getBase64Encoder,
} from '@solana/kit'
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

interface AccountInfo {
  readonly owner: Address
  readonly data: readonly [Base64EncodedBytes, 'base64']
}

export const decodeTokenAccount = (value: AccountInfo | null): Token | undefined => {
  if (value === null || value.owner !== TOKEN_PROGRAM_ADDRESS) return undefined
  const data = base64.encode(value.data[0])
  return data.length === getTokenSize() ? getTokenDecoder().decode(data) : undefined
}

/** Undefined when the account does not exist or is not a token account. */
export const readTokenAccount = async (
  rpc: SolanaRpc,
  account: Address,
  commitment: Commitment,
): Promise<Token | undefined> => {
  const { value } = await rpc.getAccountInfo(account, { commitment, encoding: 'base64' }).send()
  return decodeTokenAccount(value)
}

/** The final USDC of an account at this slot or a later one. */
export const readFinalUsdc = async (
  rpc: SolanaRpc,
  account: Address,
  mint: string,
  slot: bigint,
): Promise<Usdc> => {
  const { value } = await rpc
    .getAccountInfo(account, { commitment: 'finalized', encoding: 'base64', minContextSlot: slot })
    .send()
  return balanceIn(decodeTokenAccount(value), mint)
}

export const isFrozen = (account: Token): boolean => account.state === AccountState.Frozen

const balanceIn = (account: Token | undefined, mint: string): Usdc =>
  account === undefined || account.mint !== mint ? ZERO : usdc(account.amount)

/** The most accounts that nodes return at once. */
const ACCOUNTS_PER_REQUEST = 100

/** Final USDC balances of many wallets, in their order. */
export const finalUsdcOf = async (
  rpc: SolanaRpc,
  owners: readonly string[],
  mint: string,
): Promise<Usdc[]> => {
  const balances: Usdc[] = []
  for (let first = 0; first < owners.length; first += ACCOUNTS_PER_REQUEST) {
    const batch = owners.slice(first, first + ACCOUNTS_PER_REQUEST)
    const accounts = await Promise.all(batch.map((owner) => usdcAccountOf(owner, mint)))
    const { value } = await rpc
      .getMultipleAccounts(accounts, { commitment: 'finalized', encoding: 'base64' })
      .send()
    assert(value.length === batch.length, 'the node returned every account')
    balances.push(...value.map((account) => balanceIn(decodeTokenAccount(account), mint)))
  }
  return balances
}
