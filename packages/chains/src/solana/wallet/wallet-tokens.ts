import {
  type Holding,
  MAX_HOLDINGS,
  type WalletReader,
  type WalletToken,
} from '@market/core/ports/agent-wallets'
import { address } from '@solana/kit'
import type { SolanaRpc } from '../nodes.ts'
import { rejectAddress } from '../reject-payee.ts'
import {
  accountOf,
  decodeAccount,
  decodeMint,
  isSpendable,
  readAccount,
  readMint,
  TOKEN_PROGRAMS,
  type TokenMint,
} from './token-mint.ts'

type TokenReader = Pick<WalletReader, 'tokenOf' | 'tokenBalance' | 'holdings'>

/** The mint of a token that was checked before. Mints of Token-2022 can be closed. */
export const requireMint = async (rpc: SolanaRpc, { mint, decimals }: WalletToken): Promise<TokenMint> => {
  const found = await readMint(rpc, mint)
  // fix: mint-decimals
  if (found?.decimals === decimals) return found
  throw new Error(`${mint} is not a mint with ${decimals} decimals`)
}

const tokenOf = async (rpc: SolanaRpc, usdc: string, mint: string) => {
  // fix: usdc-by-name
  if (mint === usdc) return { rejected: 'it is the mint of USDC. Send USDC as the asset' }
  const found = await readMint(rpc, mint)
  if (found === undefined) return { rejected: 'it is not the mint of a token on Solana' }
  const { decimals, rejected } = found
  return rejected === undefined ? { mint, decimals } : { rejected }
}

/** Why a token can never be paid to this address, or undefined. */
export const rejectTokenPayee = async (
  rpc: SolanaRpc,
  token: WalletToken,
  payee: string,
): Promise<string | undefined> => {
  const rejected = await rejectAddress(rpc, payee)
  if (rejected !== undefined) return rejected
  const account = await readAccount(rpc, payee, await requireMint(rpc, token))
  if (account === undefined) return undefined
  if (account.owner !== payee) return "The payee's token account belongs to another wallet"
  return isSpendable(account) ? undefined : "The payee's token account is frozen by its issuer"
}

/** The associated token accounts of a wallet that can be spent, with what is in them. */
const spendableOf = async (rpc: SolanaRpc, wallet: string) => {
  const listed = await Promise.all(
    TOKEN_PROGRAMS.map(async (program) => {
      const { value } = await rpc
        .getTokenAccountsByOwner(
          address(wallet),
          { programId: program },
          { commitment: 'confirmed', encoding: 'base64' },
        )
        .send()
      return Promise.all(
        value.map(async ({ pubkey, account }) => {
          const found = decodeAccount(account)
          if (found === undefined || found.amount === 0n || !isSpendable(found)) return []
          const isAssociated = (await accountOf(wallet, { mint: found.mint, program })) === pubkey
          return isAssociated ? [{ mint: found.mint, amount: found.amount }] : []
        }),
      )
    }),
  )
  return listed.flat(2)
}

/** What a wallet can send, without USDC. What its issuer froze, and what cannot be transferred, is not listed. */
const holdings = async (rpc: SolanaRpc, usdc: string, wallet: string): Promise<readonly Holding[]> => {
  const held = (await spendableOf(rpc, wallet)).filter(({ mint }) => mint !== usdc).slice(0, MAX_HOLDINGS)
  if (held.length === 0) return []
  const { value } = await rpc
    .getMultipleAccounts(
      held.map(({ mint }) => mint),
      { commitment: 'confirmed', encoding: 'base64' },
    )
    .send()
  return held.flatMap(({ mint, amount }, index) => {
    const found = decodeMint(mint, value[index] ?? null)
    if (found === undefined || found.rejected !== undefined) return []
    return [{ token: { mint, decimals: found.decimals }, amount }]
  })
}

export const tokenReader = (rpc: SolanaRpc, usdc: string): TokenReader => ({
  tokenOf: (mint) => tokenOf(rpc, usdc, mint),
  async tokenBalance(wallet, token) {
    const account = await readAccount(rpc, wallet, await requireMint(rpc, token))
    return account !== undefined && account.owner === wallet && isSpendable(account) ? account.amount : 0n
  },
  holdings: (wallet) => holdings(rpc, usdc, wallet),
})
