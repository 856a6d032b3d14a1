import type { AgreedBalance } from '@market/core/ports/chain'
import type { Address, Commitment } from '@solana/kit'
import { agreeOnBalance } from '../nodes/providers.ts'
import { askEnough, type SolanaNodes, type SolanaRpc } from './nodes.ts'
import type { SolanaSettings } from './settings.ts'
import { decodeTokenAccount, usdcAccountOf } from './token-account.ts'

/** One minute. */
const MAX_LAG_SLOTS = 150n

const usdcAt = async (rpc: SolanaRpc, account: Address, mint: string, commitment: Commitment) => {
  const { context, value } = await rpc.getAccountInfo(account, { commitment, encoding: 'base64' }).send()
  const token = decodeTokenAccount(value)
  return { slot: context.slot, amount: token?.mint === mint ? token.amount : 0n }
}

/** The USDC of a wallet, as far as enough providers show it. */
export const readBalance = async (
  nodes: SolanaNodes,
  { usdc, minProviders }: SolanaSettings,
  owner: string,
): Promise<AgreedBalance> => {
  const account = await usdcAccountOf(owner, usdc)
  const responses = await askEnough(nodes, minProviders, async (rpc) => {
    const [final, latest] = await Promise.all([
      usdcAt(rpc, account, usdc, 'finalized'),
      usdcAt(rpc, account, usdc, 'confirmed'),
    ])
    return { head: latest.slot, final: final.amount, latest: latest.amount }
  })
  return agreeOnBalance('solana-mainnet', responses, { minProviders, maxLag: MAX_LAG_SLOTS })
}
