import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { isPaidOnOneOf, payoutNetworks, summarizeAgents } from '@market/identity/agents'
import { NOTHING_FOLLOWS } from '@market/kernel/cursor'
import type { AgentId, ListingId } from '@market/kernel/ids'
import {
  browseListings,
  countListings,
  createListing,
  deactivateListing,
  getListing,
  getListingBySlug,
  type Listing,
  listListings,
  matchesOf,
  updateListing,
} from '@market/offers/listings'
import { openNetworks } from '@market/trade/x402'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { moneyOf } from './parse.ts'
import { presentPayableOn } from './present-agent.ts'
import {
  presentFacets,
  presentFound,
  presentService,
  presentServiceSummary,
  presentShown,
  type Seller,
} from './present-service.ts'

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

type Browse = InputOf<Operations['browseServices']>

const browse = (ctx: HandlerContext, input: Browse): ReturnType<typeof browseListings> => {
  const { network } = input
  if (network !== undefined && ctx.chains[network] === undefined)
    return Promise.resolve({ found: [], nextCursor: NOTHING_FOLLOWS })
  return browseListings(ctx, {
    search: input.search,
    sort: input.sort,
    category: input.category,
    agentId: input.agent_id as AgentId | undefined,
    priceType: input.price_type,
    minPrice: optionalMoneyOf(input.min_price),
    maxPrice: optionalMoneyOf(input.max_price),
    maxTurnaroundHours: input.max_turnaround_hours,
    ...(network !== undefined && { extra: isPaidOnOneOf([network], ctx.clock.now()) }),
    limit: input.limit,
    cursor: input.cursor,
  })
}

/** The filters that are counted together. With any other the total is not known without reading every match. */
const COUNTED = ['category', 'price_type', 'network'] as const
const NO_FILTERS = ['limit', 'cursor', 'sort', 'explain', 'facets'] as const

async function countsFor(ctx: HandlerContext, input: Browse) {
  const known: readonly string[] = [...COUNTED, ...NO_FILTERS]
  const hasOther = Object.entries(input).some(([key, value]) => value !== undefined && !known.includes(key))
  if (hasOther && input.facets !== true) return { total: null, facets: null }
  const counts = await ctx.listingCounts('', () => countListings(ctx, openNetworks(ctx)))
  const filter = { category: input.category, priceType: input.price_type, network: input.network }
  return {
    total: hasOther
      ? null
      : matchesOf(counts, { ...filter, ...(input.sort === 'cheapest' && { isPriced: true }) }),
    facets: input.facets === true ? presentFacets(counts, filter) : null,
  }
}

async function findSellers(ctx: HandlerContext, ids: readonly AgentId[]): Promise<(id: AgentId) => Seller> {
  const [agents, networks] = await Promise.all([summarizeAgents(ctx.db, ids), payoutNetworks(ctx, ids)])
  return (id) => ({ agent: agents(id), payableOn: presentPayableOn(ctx, networks.get(id) ?? []) })
}

const withSeller = async (ctx: HandlerContext, listing: Listing) => ({
  listing,
  seller: (await findSellers(ctx, [listing.agentId]))(listing.agentId),
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
    present: ({ nextCursor, ...page }) => ({
      data: page.isOwn ? page.listings.map(presentService) : page.listings.map(presentServiceSummary),
      next_cursor: nextCursor,
    }),
  }),

  browseServices: handler('browseServices', {
    run: async (ctx, input) => {
      const [page, counts] = await Promise.all([browse(ctx, input), countsFor(ctx, input)])
      const sellers = await findSellers(
        ctx,
        page.found.map(({ listing }) => listing.agentId),
      )
      return { ...page, ...counts, sellers, explain: input.explain === true }
    },
    present: ({ found, sellers, nextCursor, explain, total, facets }) => ({
      data: found.map((each) => presentFound(each, sellers(each.listing.agentId), explain)),
      total,
      facets,
      next_cursor: nextCursor,
    }),
  }),

  getService: handler('getService', {
    run: async (ctx, input) =>
      withSeller(ctx, await getListing(ctx, input.service_id as ListingId, () => loadActor(ctx))),
    present: ({ listing, seller }, ctx) => ({ data: presentShown(listing, seller, ctx) }),
  }),

  getServiceBySlug: handler('getServiceBySlug', {
    run: async (ctx, input) => {
      const slugs = { agent: input.agent_slug, listing: input.service_slug }
      return withSeller(ctx, await getListingBySlug(ctx, slugs, () => loadActor(ctx)))
    },
    present: ({ listing, seller }, ctx) => ({ data: presentShown(listing, seller, ctx) }),
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
