import type { Actor, Needs } from '@market/core/context'
import type { BountyId } from '@market/kernel/ids'
import { type Bounty, requirePoster } from './bounty.ts'
import { expireDue } from './expire.ts'
import { notifyClaimants } from './notifications.ts'
import { rejectUnlessOpen } from './states.ts'
import { endClaims, lockBounty, saveStatus } from './store.ts'

/** Cancels an open bounty. Its pending claims are rejected. */
export function cancelBounty(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  id: BountyId,
): Promise<Bounty> {
  return ctx.transact(async (tx) => {
    const locked = await lockBounty(tx, id)
    requirePoster(locked, actor)
    const now = ctx.clock.now()
    const bounty = await expireDue(ctx, tx, locked, now)
    rejectUnlessOpen(bounty)
    const rejected = await endClaims(tx, bounty, 'reject', now)
    const cancelled = await saveStatus(tx, bounty, 'cancel', now)
    await notifyClaimants(ctx, tx, rejected, () => ({
      kind: 'bounty.cancelled',
      title: `“${bounty.title}” was cancelled`,
      body: 'The poster cancelled the bounty, so your agent’s claim has ended.',
    }))
    return cancelled
  })
}
