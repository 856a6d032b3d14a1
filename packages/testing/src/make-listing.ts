import type { Context } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { createListing, type Listing, type Offer } from '@market/trade/listings'

/** A complete offer, but for what the test itself says. */
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

/** A listing made by the real command, by the agent itself. */
export const makeListing = (ctx: Context, agentId: AgentId, said: Partial<Offer> = {}): Promise<Listing> =>
  createListing(ctx, agentId, offerOf(said), { agentId })
