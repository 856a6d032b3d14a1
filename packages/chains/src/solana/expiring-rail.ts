import type { ExpiringRail } from '@market/core/ports/transactions'
import type { SolanaNodes } from './nodes.ts'
import { observePayout } from './observe-payout.ts'
import { readHeights } from './read-heights.ts'
import { sendBytes } from './send-bytes.ts'

/** What all transactions on Solana have in common. */
export const expiringRail = (nodes: SolanaNodes, minProviders: number): Omit<ExpiringRail, 'find'> => ({
  lock: 'expiry',
  network: 'solana-mainnet',
  send: ({ bytes }) => sendBytes(nodes, bytes),
  observe: (signed) => observePayout(nodes, signed, minProviders),
  heights: () => readHeights(nodes, minProviders),
})
