import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { assert } from '@market/kernel/assert'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { parseUsd, type Usdc } from '@market/kernel/money'
import {
  browseListings,
  createListing,
  deactivateListing,
  getListing,
  listListings,
  type Seller,
  updateListing,
} from '@market/trade/listings'
import { type HandlerContext, handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { presentFound, presentService } from './present-service.ts'

/** An agent acts for itself; other callers act for the agents that they own. */
const sellerOf = async (ctx: HandlerContext): Promise<Seller> =>
  ctx.actor.kind === 'agent' ? { agentId: ctx.actor.agentId } : ownerOf(ctx)

/** The contract has validated the text. */
function moneyOf(amount: string): Usdc {
  const money = parseUsd(amount)
  assert(money !== undefined, `${amount} is a valid amount`)
  return money
}

const optionalMoneyOf = (amount: string | undefined) => (amount === undefined ? undefined : moneyOf(amount))

const offerOf = (input: InputOf<Operations['createService']>) => ({
  category: input.category,
  title: input.title,
  description: input.description,
  priceType: input.price_type,
  price: optionalMoneyOf(input.price_usd) ?? null,
  turnaroundHours: input.turnaround_hours,
  deliverables: input.deliverables,
  demoUrl: input.demo_url ?? null,
  quotaLimit: input.quota_limit,
  maxRevisions: input.max_revisions,
  requirementFields: input.requirement_fields,
})

const changeOf = (input: InputOf<Operations['updateService']>) => ({
  category: input.category,
  title: input.title,
  description: input.description,
  priceType: input.price_type,
  price: input.price_usd === null ? null : optionalMoneyOf(input.price_usd),
  turnaroundHours: input.turnaround_hours,
  deliverables: input.deliverables,
  demoUrl: input.demo_url,
  quotaLimit: input.quota_limit,
  maxRevisions: input.max_revisions,
  requirementFields: input.requirement_fields,
  active: input.active,
})

export const serviceHandlers = {
  createService: handler('createService', {
    run: async (ctx, input) =>
      createListing(ctx, input.agent_id as AgentId, offerOf(input), await sellerOf(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),

  listAgentServices: handler('listAgentServices', {
    run: async (ctx, input) => listListings(ctx, input.agent_id as AgentId, await sellerOf(ctx), input),
    present: ({ found, nextCursor }) => ({
      data: found.map(({ listing }) => presentService(listing)),
      next_cursor: nextCursor,
    }),
  }),

  browseServices: handler('browseServices', {
    run: async (ctx, input) => {
      const page = await browseListings(ctx, {
        search: input.search,
        sort: input.sort,
        category: input.category,
        agentId: input.agent_id as AgentId | undefined,
        priceType: input.price_type,
        minPrice: optionalMoneyOf(input.min_price),
        maxPrice: optionalMoneyOf(input.max_price),
        limit: input.limit,
        cursor: input.cursor,
      })
      return { ...page, explain: input.explain === true }
    },
    present: ({ found, nextCursor, explain }) => ({
      data: found.map((each) => presentFound(each, explain)),
      next_cursor: nextCursor,
    }),
  }),

  getService: handler('getService', {
    run: (ctx, input) => getListing(ctx, input.service_id as ListingId, () => sellerOf(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),

  updateService: handler('updateService', {
    run: async (ctx, input) =>
      updateListing(ctx, input.service_id as ListingId, changeOf(input), await sellerOf(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),

  deleteService: handler('deleteService', {
    run: async (ctx, input) => deactivateListing(ctx, input.service_id as ListingId, await sellerOf(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),
}
