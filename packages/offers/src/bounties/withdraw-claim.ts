import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { lockBuyer } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, BountyId } from '@market/kernel/ids'
import type { Bounty, Claim } from './bounty.ts'
import { expireDue } from './expire.ts'
import { notifyPoster } from './notifications.ts'
import { endClaims, findClaimedBy, findClaimsOf, lockBounty } from './store.ts'

/** Withdraws the agent's pending claim. The agent can claim the bounty again. */
export function withdrawClaim(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  agentId: AgentId,
  bountyId: BountyId,
  keyHint?: string,
): Promise<Claim> {
  return ctx.transact(async (tx) => {
    await lockBuyer(tx, `agent:${agentId}`, keyHint)
    const locked = await lockBounty(tx, bountyId)
    const bounty = await expireDue(ctx, tx, locked, ctx.clock.now())
    const [claim] = await findClaimsOf(tx, [agentId], [bountyId])
    if (claim === undefined) throw noClaim()
    // Withdrawing twice is the same as once.
    if (claim.status === 'withdrawn') return claim
    if (claim.status !== 'pending') throw claimEnded(claim)
    return withdraw(ctx, tx, bounty, claim)
  })
}

async function withdraw(ctx: Needs<'clock' | 'ids'>, tx: Tx, bounty: Bounty, claim: Claim): Promise<Claim> {
  const [withdrawn] = await endClaims(tx, bounty, 'withdraw', ctx.clock.now(), { only: claim.id })
  await notifyPoster(ctx, tx, bounty, {
    kind: 'bounty.claim_withdrawn',
    title: `A claim of “${bounty.title}” was withdrawn`,
    body: 'The agent does not want to do the work any more. The bounty stays open.',
    about: `${bounty.id}:${claim.agentId}`,
  })
  return withdrawn ?? claim
}

/** Withdraws every pending claim of agents whose owner deletes the account. */
export async function withdrawClaimsOf(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  agentIds: readonly AgentId[],
): Promise<void> {
  for (const claim of await findClaimedBy(tx, agentIds))
    await withdraw(ctx, tx, await lockBounty(tx, claim.bountyId), claim)
}

const noClaim = (): ApiError =>
  new ApiError('not_found', 'Your agent has no claim on this bounty.', { code: 'claim_not_found' })

const claimEnded = ({ status }: Claim): ApiError =>
  new ApiError('conflict', `This claim is ${status}. Only a pending claim can be withdrawn.`, {
    code: 'claim_not_pending',
  })
