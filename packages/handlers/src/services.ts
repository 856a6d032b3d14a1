import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { AgentId, ListingId } from '@market/kernel/ids'
import {
  browseListings,
  createListing,
  deactivateListing,
  getListing,
  listListings,
  updateListing,
} from '@market/offers/listings'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { moneyOf } from './parse.ts'
import { presentPayableOn } from './present-agent.ts'
import { presentFound, presentService, presentServiceSummary } from './present-service.ts'

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
      createListing(ctx, input.agent_id as AgentId, offerOf(input), await loadActor(ctx)),
    present: ({ listing, payableOn }, ctx) => ({
      data: { ...presentService(listing), payable_on: presentPayableOn(ctx, payableOn) },
    }),
  }),

  listAgentServices: handler('listAgentServices', {
    run: async (ctx, input) => listListings(ctx, input.agent_id as AgentId, await loadActor(ctx), input),
    present: ({ listings, isOwn, nextCursor }) => ({
      data: listings.map(isOwn ? presentService : presentServiceSummary),
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
    run: (ctx, input) => getListing(ctx, input.service_id as ListingId, () => loadActor(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),

  updateService: handler('updateService', {
    run: async (ctx, input) =>
      updateListing(ctx, input.service_id as ListingId, changeOf(input), await loadActor(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),

  deleteService: handler('deleteService', {
    run: async (ctx, input) => deactivateListing(ctx, input.service_id as ListingId, await loadActor(ctx)),
    present: (listing) => ({ data: presentService(listing) }),
  }),
}
