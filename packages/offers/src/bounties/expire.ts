import type { Needs } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import type { BountyId } from '@market/kernel/ids'
import type { Bounty } from './bounty.ts'
import { claimExpired, notifyClaimants, notifyPoster } from './notifications.ts'
import { endClaims, findBountiesOfDueClaims, findDueBounties, lockBounty, saveStatus } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

const BATCH = 100

/**
 * Ends the claims and bounties whose time is over. Each bounty has its own transaction and is decided under its lock, so
 * several workers can run this at once, and one that fails does not delay the others.
 */
export async function expireBounties(ctx: Ctx & Needs<'db'>): Promise<void> {
  const now = ctx.clock.now()
  const due = new Set<BountyId>([
    ...(await findDueBounties(ctx.db, now, BATCH)),
    ...(await findBountiesOfDueClaims(ctx.db, now, BATCH)),
  ])
  const failures: unknown[] = []
  for (const id of due)
    await transact(ctx.db, async (tx) => expireDue(ctx, tx, await lockBounty(tx, id), ctx.clock.now())).catch(
      (error: unknown) => failures.push(error),
    )
  if (failures.length > 0) throw new AggregateError(failures, 'Some bounties could not be expired')
}

/** Expires what is over of a locked bounty, and returns the bounty as it is then. Commands call it first. */
export async function expireDue(ctx: Ctx, tx: Tx, bounty: Bounty, now: Date): Promise<Bounty> {
  if (bounty.status !== 'open') return bounty
  const isOver = bounty.expiresAt <= now
  const expired = await endClaims(tx, bounty, 'expire', now, isOver ? {} : { expiredBy: now })
  const why = isOver
    ? 'The bounty has expired without an accepted claim.'
    : 'The poster did not decide in time. Your agent can claim the bounty again.'
  await notifyClaimants(ctx, tx, expired, () => claimExpired(bounty, why))
  if (!isOver) return { ...bounty, pendingClaims: bounty.pendingClaims - expired.length }
  const ended = await saveStatus(tx, bounty, 'expire', now)
  await notifyPoster(ctx, tx, bounty, {
    kind: 'bounty.expired',
    title: `“${bounty.title}” has expired`,
    body: 'No claim was accepted within 30 days. Post it again to go on.',
  })
  return ended
}
