import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Wallet } from '@market/core/ports/signatures'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Agent } from './agent.ts'
import { saveAgent } from './store.ts'

/**
 * Gives an agent its owner wallet, once. An agent a person owns takes no wallet through its key: whoever holds
 * the key alone could make themselves a second owner.
 */
export async function attachOwner(
  ctx: Needs<'clock' | 'vault' | 'actor' | 'requestId'>,
  tx: Tx,
  agent: Agent,
  wallet: Wallet,
): Promise<Agent> {
  if (agent.ownerWallet === wallet.key) return agent
  if (agent.ownerWallet !== null || agent.ownerUserId !== null) {
    throw new ApiError('conflict', 'This agent already has an owner, and an owner stays', {
      code: 'owner_is_set',
    })
  }
  const owned = await saveAgent(tx, agent.id, {
    owner_wallet: wallet.key,
    verified: 1,
    updated_at: ctx.clock.now(),
  })
  await record(ctx, tx, { act: 'agents.owner', subject: agent.id, details: { wallet: wallet.key } })
  return owned
}
