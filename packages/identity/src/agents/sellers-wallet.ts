import { findWalletAddress } from '@market/core/custody'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { findUserOfWallet, findWallets } from '../accounts/index.ts'
import { hasSameOwner } from './agent.ts'
import { findAgentById } from './get-agent.ts'

/**
 * Whether a payment from this wallet to the agent would come from the agent itself: from its own wallet, its owner's
 * wallet or a wallet of the owner's account.
 */
export async function isSellersWallet(db: Db | Tx, wallet: string, sellerId: AgentId): Promise<boolean> {
  const [seller, userId, ownWallet] = await Promise.all([
    findAgentById(db, sellerId),
    findUserOfWallet(db, wallet),
    findWalletAddress(db, sellerId, 'solana'),
  ])
  if (wallet === ownWallet) return true
  if (userId === undefined) return hasSameOwner(seller, { wallets: [{ key: wallet }] })
  return hasSameOwner(seller, { userId, wallets: await findWallets(db, userId) })
}
