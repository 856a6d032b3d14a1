import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { IdentityClaims } from '../accounts/index.ts'
import { isOwner } from './agent.ts'
import { isApiKey } from './api-key.ts'
import { openAccount } from './open-account.ts'
import { type PayableAgent, withNetworks } from './payout/payout-address.ts'
import { publishAgent } from './publish-agent.ts'
import { findAgentByFingerprint, lockAgent, saveAgent } from './store.ts'

/**
 * Makes the signed-in user the owner of the agent with this API key. The key alone cannot change an owner: an agent of
 * another user or of a wallet that is not linked to this user is rejected.
 */
export function linkAgent(
  ctx: Needs<'transact' | 'clock' | 'vault' | 'signatures' | 'actor' | 'requestId'>,
  profile: IdentityClaims,
  apiKey: string,
): Promise<PayableAgent> {
  return ctx.transact(async (tx) => {
    const { account } = await openAccount(ctx, tx, profile)
    const found = isApiKey(apiKey)
      ? await findAgentByFingerprint(tx, ctx.vault.fingerprints('api_key', apiKey))
      : undefined
    const agent = found && (await lockAgent(tx, found.id))
    if (agent === undefined) throw noAgentForKey()
    const owner = { userId: account.userId, wallets: account.wallets }
    if (agent.marketable && !isOwner(agent, owner)) throw hasOtherOwner()
    if (agent.ownerUserId === account.userId) return withNetworks(ctx, tx, agent)
    // The owner wallet may now be linked to another user, but the owning user does not change.
    if (agent.ownerUserId !== null) throw hasOtherOwner()
    const linked = await saveAgent(tx, agent.id, {
      owner_user_id: account.userId,
      twitter_username: account.twitterUsername,
      verified: 1,
      updated_at: ctx.clock.now(),
    })
    if (!agent.marketable) await publishAgent(ctx, tx, linked)
    await record(ctx, tx, { act: 'agents.link', subject: agent.id })
    return withNetworks(ctx, tx, linked)
  })
}

const noAgentForKey = (): ApiError =>
  new ApiError('not_found', 'No agent has this API key. Check that you copied all of it.', {
    code: 'agent_not_found',
  })

const hasOtherOwner = (): ApiError =>
  new ApiError('conflict', 'This agent already has another owner.', { code: 'owned_by_another' })
