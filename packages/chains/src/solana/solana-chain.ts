import type { Chain } from '@market/core/ports/chain'
import { assertIsAddress } from '@solana/kit'
import { agreeOnTransfer } from '../nodes/providers.ts'
import { checkNodes } from './check-nodes.ts'
import { checkTransferOnNode, findTransfer } from './find-transfer.ts'
import { askEnough, type SolanaRpc, solanaNodes } from './nodes.ts'
import { readBalance } from './read-balance.ts'
import { FIRST_SLOT, readFinal } from './read-final.ts'
import { readHeights } from './read-heights.ts'
import type { TreasuryAccount } from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'
import { finalUsdcOf, usdcAccountOf } from './token-account.ts'

/** Read access to Solana through several nodes. */
export const solanaChain = (settings: SolanaSettings): Chain => {
  const { usdc, cold, ownAddresses, gasAccounts = [] } = settings
  const addresses = [settings.treasury, usdc, ...ownAddresses, ...gasAccounts]
  if (cold !== undefined && addresses.includes(cold))
    throw new Error('solana-mainnet: the cold address must be one that nothing else uses')
  for (const address of [...addresses, cold ?? usdc]) assertIsAddress(address)
  const nodes = solanaNodes(settings)
  const own = new Set([settings.treasury, ...settings.ownAddresses])
  let account: ReturnType<typeof usdcAccountOf> | undefined
  const treasury = async (): Promise<TreasuryAccount> => {
    account ??= usdcAccountOf(settings.treasury, settings.usdc)
    return { account: await account, owner: settings.treasury, mint: settings.usdc }
  }
  return {
    network: 'solana-mainnet',
    displayAddress: (address) => address,
    treasury: settings.treasury,
    cold,
    minPayout: settings.minPayout,
    usdc: settings.usdc,
    findTransfer: async (query) => findTransfer(nodes.rpc, settings, await treasury(), own, query),
    async checkTransfer(recorded) {
      const accounts = { treasury: await treasury(), own }
      const { minProviders } = settings
      const check = (rpc: SolanaRpc) => checkTransferOnNode(rpc, settings, accounts, recorded)
      return agreeOnTransfer('solana-mainnet', await askEnough(nodes, minProviders, check), minProviders)
    },
    startingBlock: async () => FIRST_SLOT,
    finalMovementsAfter: async (block) =>
      readFinal({ nodes, settings, treasury: await treasury(), own }, block),
    async heights() {
      // What is final for one provider alone need not be in the final blocks that are read next.
      const { final, horizon } = await readHeights(nodes, settings.minProviders)
      return { final, horizon }
    },
    balanceOf: (address) => readBalance(nodes, settings, address),
    finalBalancesOf: (addresses) => finalUsdcOf(nodes.rpc, addresses, settings.usdc),
    checkNodes: () => checkNodes(nodes, settings),
  }
}
