import { isToken, type WalletReader } from '@market/core/ports/agent-wallets'
import { address } from '@solana/kit'
import { type SolanaNodes, type SolanaRpc, solanaNodes } from '../nodes.ts'
import { rejectAddress, rejectPayee } from '../reject-payee.ts'
import type { SolanaPayoutSenderSettings } from '../settings.ts'
import { MICRO_LAMPORTS_PER_UNIT, priceOf } from '../sign-payout.ts'
import { decodeTokenAccount, usdcAccountOf } from '../token-account.ts'
import { mintCost } from './mint-transaction.ts'
import { proveMint } from './prove-mint.ts'
import { readIncome } from './read-income.ts'
import { sendCost } from './send-transaction.ts'
import { showTransactions } from './show-transactions.ts'
import { rejectTokenPayee, tokenReader } from './wallet-tokens.ts'

const rentExemptOf = (rpc: SolanaRpc): Promise<bigint> => rpc.getMinimumBalanceForRentExemption(0n).send()

/** A transaction that leaves an account with less than the rent-exempt minimum fails. */
const rejectAmount = async (rpc: SolanaRpc, to: string, amount: bigint): Promise<string | undefined> => {
  const [{ value: balance }, rentExempt] = await Promise.all([
    rpc.getBalance(address(to), { commitment: 'confirmed' }).send(),
    rentExemptOf(rpc),
  ])
  if (balance + amount >= rentExempt) return undefined
  return `The payee has ${balance} lamports and must have at least ${rentExempt} after the transfer`
}

export const walletReader = (nodes: SolanaNodes, settings: SolanaPayoutSenderSettings): WalletReader => {
  const { rpc } = nodes
  const { usdc, minProviders } = settings
  const firstPrice = settings.microLamportsPerUnit ?? MICRO_LAMPORTS_PER_UNIT
  return {
    async balances(wallet) {
      const accounts = [address(wallet), await usdcAccountOf(wallet, usdc)]
      const { value } = await rpc
        .getMultipleAccounts(accounts, { commitment: 'confirmed', encoding: 'base64' })
        .send()
      const token = decodeTokenAccount(value[1] ?? null)
      const usdcMicros = token?.mint === usdc ? token.amount : 0n
      return { lamports: value[0]?.lamports ?? 0n, usdcMicros }
    },
    async costs(token) {
      const [launch, identity, rentExempt] = await Promise.all([
        mintCost(rpc, 'launch', firstPrice, token),
        mintCost(rpc, 'identity', firstPrice, token),
        rentExemptOf(rpc),
      ])
      return { launch, identity, rentExempt }
    },
    sendCost: (asset, to, attempt = 1) => sendCost(rpc, usdc, { asset, to }, priceOf(attempt, firstPrice)),
    async rejectionReason(asset, to, amount) {
      if (isToken(asset)) return rejectTokenPayee(rpc, asset, to)
      if (asset === 'USDC') return rejectPayee(rpc, usdc, new Set(), to)
      const rejected = await rejectAddress(rpc, to)
      return rejected === undefined && amount !== undefined ? rejectAmount(rpc, to, amount) : rejected
    },
    proveMint: (claim) => proveMint(nodes, claim, minProviders),
    readIncome: (query) => readIncome(nodes, query, minProviders),
    showTransactions: (references) => showTransactions(nodes, references, minProviders),
    ...tokenReader(rpc, usdc),
  }
}

/** Reads server wallets and mints on Solana. */
export const solanaWalletReader = (settings: SolanaPayoutSenderSettings): WalletReader =>
  walletReader(solanaNodes(settings), settings)
