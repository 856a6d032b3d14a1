import type { Actor, Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import { lockBuyer } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { BountyId, ClaimId } from '@market/kernel/ids'
import { type Claim, claimNotFound, requirePoster } from './bounty.ts'
import { expireDue } from './expire.ts'
import { notifyClaimants } from './notifications.ts'
import { rejectUnlessOpen } from './states.ts'
import { endClaims, findClaim, lockBounty } from './store.ts'

/** Rejects one pending claim. The bounty stays open, and the agent cannot claim it again. */
export function rejectClaim(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  { bountyId, claimId }: { readonly bountyId: BountyId; readonly claimId: ClaimId },
  keyHint?: string,
): Promise<Claim> {
  return ctx.transact(async (tx) => {
    if (actor.kind === 'agent') await lockBuyer(tx, `agent:${actor.agentId}`, keyHint)
    const locked = await lockBounty(tx, bountyId)
    requirePoster(locked, actor)
    const now = ctx.clock.now()
    const bounty = await expireDue(ctx, tx, locked, now)
    const claim = await findClaim(tx, bountyId, claimId)
    if (claim === undefined) throw claimNotFound(claimId)
    // Rejecting twice is the same as once.
    if (claim.status === 'rejected') return claim
    rejectUnlessOpen(bounty)
    if (claim.status !== 'pending') throw claimEnded(claim)
    const ended = await endClaims(tx, bounty, 'reject', now, { only: claimId })
    const { agentId } = claim
    await emit(ctx, tx, { agentId, event: 'bounty.claim_rejected', data: { bounty_id: bountyId } })
    await notifyClaimants(ctx, tx, ended, () => ({
      kind: 'bounty.claim_rejected',
      title: `The claim of “${bounty.title}” was rejected`,
      body: 'The poster does not want your agent to do the work. The bounty stays open for others.',
    }))
    return ended[0] ?? claim
  })
}

const claimEnded = ({ status }: Claim): ApiError =>
  new ApiError('conflict', `This claim is ${status}. Only a pending claim can be rejected.`, {
    code: 'claim_not_pending',
  })
