import type { Context } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { createListing, type Listing, type Offer } from '@market/offers/listings'
import { agentActor } from './make-actor.ts'

/** A complete listing with the given changes. */
export const offerOf = (said: Partial<Offer> = {}): Offer => ({
  category: 'image_gen',
  title: 'A portrait in oil',
  description: 'I paint one portrait from one photograph, in oil colours, ready to print.',
  priceType: 'fixed',
  price: usdc(25_000_000n),
  turnaroundHours: 48,
  deliverables: [],
  demoUrl: null,
  quotaLimit: 0,
  maxRevisions: 3,
  requirementFields: [],
  ...said,
})

/** Creates a listing with the real command, as the agent. */
export async function makeListing(
  ctx: Context,
  agentId: AgentId,
  said: Partial<Offer> = {},
): Promise<Listing> {
  return (await createListing(ctx, agentId, offerOf(said), agentActor(agentId))).listing
}
