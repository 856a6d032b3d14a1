import { Client, MarketError } from '@market/sdk/client'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { notFound } from '@tanstack/react-router'
import type { SiteSettings } from '../page.ts'
import { amountOf, micros } from './money.ts'
import { readServerDate } from './server-clock.ts'
import type { ServiceFilter } from './service-filter.ts'

/** What every route gets: the API, what was read from it, and the settings of the pages. */
export interface PageContext extends SiteSettings {
  readonly market: Client
  readonly queryClient: QueryClient
  /** Takes the facts of the page for search engines, on the server: a script may not add a script element. */
  readonly describe?: (facts: Readonly<Record<string, unknown>>) => void
}

/** A browser reads the API of its own origin. */
export const browserMarket = (): Client =>
  new Client({
    apiUrl: window.location.origin,
    retries: 1,
    fetch: async (...request) => readServerDate(await fetch(...request)),
  })

/** Shown data may be this old, on the server and in the browser. */
export const FRESH_MS = 30_000

/** A query of the API: what does not exist becomes the page "not found". */
const read = <Data>(key: readonly unknown[], call: () => Promise<Data>) =>
  queryOptions({
    queryKey: key,
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async () => {
      try {
        return await call()
      } catch (error) {
        if (error instanceof MarketError && error.status === 404) throw notFound()
        throw error
      }
    },
  })

export const servicesQuery = ({ market }: PageContext, filter: ServiceFilter) =>
  read(['services', filter], async () => {
    const { data, total, next_cursor } = await market.browseServices({ ...filter, limit: 12 })
    return { services: data, total, nextCursor: next_cursor }
  })

export const agentQuery = ({ market }: PageContext, agent: string) =>
  read(['agent', agent], () => market.getAgent({ agent_id: agent }))

export const agentsQuery = ({ market }: PageContext, search: AgentSearch) =>
  read(['agents', search], async () => {
    const { data, next_cursor } = await market.listAgents({ ...search, services: 'with', limit: 24 })
    return { agents: data, nextCursor: next_cursor }
  })

export interface AgentSearch {
  readonly search?: string
  readonly cursor?: string
}

/** Reviews of a service, with the number of reviews by stars. */
export const reviewsQuery = ({ market }: PageContext, agentId: string, serviceId: string) =>
  read(['reviews', serviceId], async () => {
    const { data, stars } = await market.listReviews({ agent_id: agentId, service_id: serviceId, limit: 20 })
    return { reviews: data, stars }
  })

/** By slug, or by id as activity names it. */
export const serviceQuery = ({ market }: PageContext, agent: string, service: string) =>
  read(['service', agent, service], () =>
    service.startsWith('svc_')
      ? market.getService({ service_id: service })
      : market.getServiceBySlug({ agent_slug: agent, service_slug: service }),
  )

/** Networks, fees and what is switched off. */
export const configQuery = ({ market }: PageContext) => read(['config'], () => market.getConfig())

export const statisticsQuery = ({ market }: PageContext) =>
  read(['statistics'], async () => {
    // With the time of reading, a page would never be the one that a visitor has.
    const { updated_at: _, ...figures } = await market.getPlatformStats()
    return figures
  })

export const solvencyQuery = ({ market }: PageContext) => read(['solvency'], () => market.getSolvency())

export const anchorsQuery = ({ market }: PageContext) =>
  read(['anchors'], async () => (await market.listAnchors({ limit: 14 })).data)

/** What all networks held and owed on each day, oldest first. */
export const reserveHistoryQuery = ({ market }: PageContext) =>
  read(['reserve-history'], async () => {
    const days = new Map<string, { readonly held: bigint; readonly owed: bigint }>()
    for (const { day, assets_usd, venues_usd, liabilities_usd } of await market.getSolvencyHistory()) {
      const { held, owed } = days.get(day) ?? { held: 0n, owed: 0n }
      days.set(day, {
        held: held + micros(assets_usd) + micros(venues_usd),
        owed: owed + micros(liabilities_usd),
      })
    }
    return [...days]
      .map(([day, { held, owed }]) => ({ day, held_usd: amountOf(held), owed_usd: amountOf(owed) }))
      .sort((one, other) => (one.day < other.day ? -1 : 1))
  })

/** Entries on a page of the activity. */
export const ACTIVITY_LIMIT = 40

export const activityQuery = ({ market }: PageContext, limit: number, cursor?: string) =>
  read(['activity', limit, cursor], async () => {
    const page = await market.listActivity({ limit, ...(cursor !== undefined && { cursor }) })
    return { items: page.data, nextCursor: page.next_cursor }
  })

export const bountiesQuery = ({ market }: PageContext, search: BountySearch) =>
  read(['bounties', search], async () => {
    const { data, total, next_cursor } = await market.listBounties({ ...search, limit: 20 })
    return { bounties: data, total, nextCursor: next_cursor }
  })

export interface BountySearch {
  readonly search?: string
  readonly cursor?: string
}

export const bountyQuery = ({ market }: PageContext, bountyId: string) =>
  read(['bounty', bountyId], () => market.getBounty({ bounty_id: bountyId }))

/** An order bought by x402. The access token is the only credential. */
export const purchaseQuery = ({ market }: PageContext, orderId: string, token: string) =>
  read(['purchase', orderId, token], () => market.getPurchasedOrder({ order_id: orderId, t: token }))
