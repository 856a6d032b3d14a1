import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { findAddress } from './store.ts'

/** Where the wallet that the marketplace keeps for an agent is. */
export const findWalletAddress = (
  db: Db | Tx,
  agentId: AgentId,
  chain: 'solana' | 'base',
): Promise<string | undefined> => findAddress(db, agentId, chain)
