import type { Needs } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import type { BountyId } from '@market/kernel/ids'
import type { Bounty } from './bounty.ts'
import { type Due, findDueBounties, findDueClaims } from './find-due.ts'
import { claimExpired, notifyClaimants, notifyPoster } from './notifications.ts'
import { endClaims, lockBounty, saveStatus } from './store.ts'

type Ctx = Needs<'clock' | 'ids'>

const BATCH = 100
/** Limits one run, so that a long backlog leaves time for other jobs. */
const BATCHES = 10

/**
 * Ends the claims and bounties whose time is over. Each bounty has its own transaction and is decided under its lock, so
 * several workers can run this at once, and a bounty that fails stays due without delaying the others.
 */
export async function expireBounties(ctx: Ctx & Needs<'db'>): Promise<void> {
  const failed = new Map<BountyId, unknown>()
  for (const find of [findDueBounties, findDueClaims]) {
    let after: Due | undefined
    for (let batch = 0; batch < BATCHES; batch++) {
      const due = await find(ctx.db, ctx.clock.now(), { limit: BATCH, after })
      for (const id of new Set(due.map(({ bountyId }) => bountyId)))
        if (!failed.has(id)) await expireOne(ctx, id).catch((error: unknown) => failed.set(id, error))
      after = due.at(-1)
      if (due.length < BATCH) break
    }
  }
  if (failed.size > 0) throw new AggregateError(failed.values(), 'Some bounties could not be expired')
}

const expireOne = (ctx: Ctx & Needs<'db'>, id: BountyId): Promise<Bounty> =>
  transact(ctx.db, async (tx) => expireDue(ctx, tx, await lockBounty(tx, id), ctx.clock.now()))

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
