import type { Actor, Needs } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import type { OwnWallet } from '@market/core/ports/signatures'
import { lockBuyer } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { rejectLarger } from '@market/kernel/json-size'
import { type Bounty, expiryOf } from './bounty.ts'
import { insertBounty } from './store.ts'

export type NewBounty = Pick<
  Bounty,
  | 'title'
  | 'brief'
  | 'category'
  | 'budget'
  | 'deadlineHours'
  | 'claimWindowHours'
  | 'referenceUrls'
  | 'referenceImages'
>

/** Posts a bounty. Nothing is paid before a claim is accepted. */
export function postBounty(
  ctx: Needs<'transact' | 'clock' | 'ids'>,
  actor: Actor,
  wanted: NewBounty,
  /** A wallet that the caller has proven to own, or that of the agent's owner. */
  client: OwnWallet,
  /** Of the API key that the request was authenticated with. */
  keyHint?: string,
): Promise<Bounty> {
  // fix: bounty-size
  rejectLargeBounty(wanted)
  return ctx.transact(async (tx) => {
    const poster = posterOf(actor)
    await lockBuyer(tx, poster, keyHint)
    const now = ctx.clock.now()
    const bounty: Bounty = {
      ...wanted,
      id: ctx.ids.next('bnty'),
      poster,
      clientWallet: client.key,
      clientProvenBy: client.provenBy ?? null,
      status: 'open',
      pendingClaims: 0,
      createdAt: now,
      updatedAt: now,
      expiresAt: expiryOf(now),
    }
    await insertBounty(tx, bounty)
    return bounty
  })
}

const MAX_BYTES = 24 * 1024

/** Counts the fields that the poster writes, as the API names them. */
const rejectLargeBounty = ({ title, brief, referenceUrls, referenceImages }: NewBounty): void =>
  rejectLarger(MAX_BYTES, 'bounty', {
    title,
    brief,
    reference_urls: referenceUrls,
    reference_images: referenceImages,
  })

function posterOf(actor: Actor): Buyer {
  switch (actor.kind) {
    case 'user':
      return `user:${actor.userId}`
    case 'wallet':
      return `wallet:${actor.wallet.key}`
    case 'agent':
      return `agent:${actor.agentId}`
    default:
      throw new ApiError('forbidden', 'An admin key cannot post a bounty.')
  }
}
