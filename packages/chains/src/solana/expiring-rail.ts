import type { ExpiringRail } from '@market/core/ports/transactions'
import { unavailable } from '@market/kernel/api-error'
import type { SolanaNodes } from './nodes.ts'
import { observePayout } from './observe-payout.ts'
import { readHeights } from './read-heights.ts'
import { sendBytes } from './send-bytes.ts'

/** By how many blocks the horizon may be ahead of the lowest final height: nodes that differ by two minutes, and a blockhash. */
const FARTHEST_HORIZON = 500n

/** What all transactions on Solana have in common. */
export const expiringRail = (nodes: SolanaNodes, minProviders: number): Omit<ExpiringRail, 'find'> => ({
  lock: 'expiry',
  network: 'solana-mainnet',
  send: ({ bytes }) => sendBytes(nodes, bytes),
  observe: (signed) => observePayout(nodes, signed, minProviders),
  finalHeight: async () => (await readHeights(nodes, minProviders)).final,
  async horizon() {
    const { final, horizon } = await readHeights(nodes, minProviders)
    // It is stored. A wrong one would keep wallets closed until the chain is there.
    if (horizon - final > FARTHEST_HORIZON)
      throw unavailable('The heights of the Solana nodes are too far apart. Try again later.')
    return horizon
  },
})
