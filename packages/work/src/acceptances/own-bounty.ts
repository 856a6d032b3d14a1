import type { Tx } from '@market/database/transact'
import { findAgentById, isSellersWallet } from '@market/identity/agents'
import { type Bounty, type Claim, isOwnBounty } from '@market/offers/bounties'

/** Whether the agent would be hired or paid by its own owner. The payer is known once the transfer is confirmed. */
export async function isOwn(
  tx: Tx,
  bounty: Bounty,
  { agentId }: Claim,
  payer: string | null,
): Promise<boolean> {
  if (payer !== null && (await isSellersWallet(tx, payer, agentId))) return true
  return isOwnBounty(tx, bounty, await findAgentById(tx, agentId))
}
