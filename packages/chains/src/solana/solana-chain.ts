import type { Chain } from '@market/core/ports/chain'
import { assertIsAddress } from '@solana/kit'
import { largest } from '../nodes/largest.ts'
import { checkNodes } from './check-nodes.ts'
import { findTransfer, parseSignature } from './find-transfer.ts'
import { outgoingTransfersFollower } from './follow-outgoing-transfers.ts'
import { treasuryFollower } from './follow-treasury.ts'
import { solanaNodes } from './nodes.ts'
import { readHeights } from './read-heights.ts'
import type { TreasuryAccount } from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'
import { usdcAccountOf, usdcOf } from './token-account.ts'

/** Reads USDC on Solana through several nodes. Holds no key. */
export const solanaChain = (settings: SolanaSettings): Chain => {
  const { usdc, ownAddresses, gasAccounts = [] } = settings
  for (const address of [settings.treasury, usdc, ...ownAddresses, ...gasAccounts]) assertIsAddress(address)
  const nodes = solanaNodes(settings)
  const own = new Set([settings.treasury, ...settings.ownAddresses])
  let account: ReturnType<typeof usdcAccountOf> | undefined
  const treasury = async (): Promise<TreasuryAccount> => {
    account ??= usdcAccountOf(settings.treasury, settings.usdc)
    return { account: await account, owner: settings.treasury, mint: settings.usdc }
  }
  // Whoever was told what is final reads on with it in mind, so no node that stands below may list the payments then.
  let finalSlot = 0n
  return {
    network: 'solana-mainnet',
    treasury: settings.treasury,
    usdc: settings.usdc,
    normalize: parseSignature,
    findTransfer: async (question) => findTransfer(nodes.rpc, settings, await treasury(), own, question),
    transfersAfter: treasuryFollower(nodes, treasury, own),
    outgoingTransfersAfter: outgoingTransfersFollower(nodes, treasury, { minSlot: () => finalSlot }),
    async heights() {
      const heights = await readHeights(nodes)
      finalSlot = largest([finalSlot, heights.finalSlot])
      return { final: heights.final, horizon: heights.horizon }
    },
    async balanceOf(address) {
      const [final, latest] = await Promise.all([
        usdcOf(nodes.rpc, address, settings.usdc, 'finalized'),
        usdcOf(nodes.rpc, address, settings.usdc, 'confirmed'),
      ])
      return { final, latest }
    },
    checkNodes: () => checkNodes(nodes, settings),
  }
}
