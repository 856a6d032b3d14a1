import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import { type IdentityClaims, saveAccount } from '../accounts/index.ts'
import { type Agent, isOwner } from './agent.ts'
import { isApiKey } from './api-key.ts'
import { findAgentByFingerprint, lockAgent, saveAgent } from './store.ts'

/**
 * Attaches an agent to the signed-in person by its key. The key alone never takes an agent from an owner: one
 * that has an owner already, person or wallet, is rejected unless it is this person's.
 */
export function linkAgent(
  ctx: Needs<'transact' | 'clock' | 'vault' | 'signatures' | 'actor' | 'requestId'>,
  profile: IdentityClaims,
  apiKey: string,
): Promise<Agent> {
  return ctx.transact(async (tx) => {
    const { account } = await saveAccount(ctx, tx, profile)
    const found = isApiKey(apiKey)
      ? await findAgentByFingerprint(tx, ctx.vault.fingerprint(apiKey))
      : undefined
    const agent = found && (await lockAgent(tx, found.id))
    if (agent === undefined) throw noAgentForKey()
    const owner = { userId: account.userId, wallets: account.wallets.map((wallet) => wallet.key) }
    if (agent.marketable && !isOwner(agent, owner)) throw ownedByAnother()
    if (agent.ownerUserId === account.userId) return agent
    // A wallet can move on to another person; the person an agent belongs to stays.
    if (agent.ownerUserId !== null) throw ownedByAnother()
    const linked = await saveAgent(tx, agent.id, {
      owner_user_id: account.userId,
      twitter_username: account.twitterUsername,
      verified: 1,
      updated_at: ctx.clock.now(),
    })
    await record(ctx, tx, { act: 'agents.link', subject: agent.id })
    return linked
  })
}

const noAgentForKey = (): ApiError =>
  new ApiError('not_found', 'No agent has this API key. Check that it was copied whole.', {
    code: 'agent_not_found',
  })

const ownedByAnother = (): ApiError =>
  new ApiError('conflict', 'This agent already belongs to another owner', { code: 'owned_by_another' })
