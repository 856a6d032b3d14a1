import { findWalletAddress } from '@market/core/custody'
import type { Db, Tx } from '@market/database/transact'
import type { Agent } from '@market/identity/agents'
import type { Network } from '@market/kernel/network'

const isEvm = (wallet: string): boolean => wallet.startsWith('0x')

/** Where an agent is paid on the network its buyer paid on: the address it chose, its owner's wallet, its own wallet. */
export async function payoutAddress(db: Db | Tx, agent: Agent, network: Network): Promise<string | null> {
  const { ownerWallet } = agent
  if (network === 'solana-mainnet') {
    if (agent.payoutWallet !== null) return agent.payoutWallet
    if (ownerWallet !== null && !isEvm(ownerWallet)) return ownerWallet
    return (await findWalletAddress(db, agent.id, 'solana')) ?? null
  }
  if (agent.payoutAddressBase !== null) return agent.payoutAddressBase
  return ownerWallet !== null && isEvm(ownerWallet) ? ownerWallet : null
}
