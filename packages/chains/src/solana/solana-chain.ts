import type { Chain } from '@market/core/ports/chain'
import { assertIsAddress } from '@solana/kit'
import { largest } from '../bigints.ts'
import { checkNodes } from './check-nodes.ts'
import { findTransfer, parseSignature } from './find-transfer.ts'
import { incomingTransfersFollower } from './follow-incoming-transfers.ts'
import { outgoingTransfersFollower } from './follow-outgoing-transfers.ts'
import { solanaNodes } from './nodes.ts'
import { readHeights } from './read-heights.ts'
import type { TreasuryAccount } from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'
import { usdcAccountOf, usdcOf } from './token-account.ts'

/** Read access to Solana through several nodes. */
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
  // After `heights` returned a final slot, nodes below that slot must not be used to list outgoing transfers.
  let finalSlot = 0n
  return {
    network: 'solana-mainnet',
    treasury: settings.treasury,
    usdc: settings.usdc,
    normalize: parseSignature,
    findTransfer: async (query) => findTransfer(nodes.rpc, settings, await treasury(), own, query),
    transfersAfter: incomingTransfersFollower(nodes, treasury, own),
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
