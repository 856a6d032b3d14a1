import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { CATEGORIES } from '@market/contract/schemas/common'
import { PriceType, type ServiceFacets } from '@market/contract/schemas/service'
import type { AgentSummary } from '@market/identity/agents'
import { formatUsd } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import {
  averageRating,
  type CountedFilter,
  type Found,
  type Listing,
  type ListingCounts,
  type ListingSummary,
  matchesOf,
} from '@market/offers/listings'
import type { z } from 'zod'
import type { HandlerContext } from './handler.ts'
import { presentSignable } from './present-order.ts'

type Service = ResponseOf<Operations['updateService']>['data']
type ShownService = ResponseOf<Operations['getService']>['data']
type Facets = z.input<typeof ServiceFacets>
type Summary = ResponseOf<Operations['getAgent']>['data']['services'][number]
type FoundService = ResponseOf<Operations['browseServices']>['data'][number]

export const presentServiceSummary = (listing: ListingSummary): Summary => ({
  id: listing.id,
  service_id: listing.id,
  slug: listing.slug,
  agent_id: listing.agentId,
  category: listing.category as Service['category'],
  title: listing.title,
  description: listing.description,
  price_usd: listing.price === null ? null : formatUsd(listing.price),
  price_type: listing.priceType,
  turnaround_hours: listing.turnaroundHours,
  quota_limit: listing.quotaLimit,
  max_revisions: listing.maxRevisions,
  active: listing.active,
  marketable: listing.marketable,
  total_orders: listing.totalOrders,
  completed_orders: listing.completedOrders,
  avg_rating: averageRating(listing),
  review_count: listing.ratingCount,
  created_at: listing.createdAt.toISOString(),
  updated_at: listing.updatedAt.toISOString(),
})

export const presentService = (listing: Listing): Service => ({
  ...presentServiceSummary(listing),
  deliverables: [...listing.deliverables],
  demo_url: listing.demoUrl,
  requirement_fields: listing.requirementFields.map((field) => ({
    label: field.label,
    type: field.type,
    required: field.required,
    ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
    ...(field.options !== undefined && { options: [...field.options] }),
  })),
})

export const presentListedAgent = (agent: AgentSummary): FoundService['agent'] => ({
  agent_id: agent.id,
  slug: agent.slug,
  name: agent.name,
  avatar_url: agent.avatarUrl,
  verified: agent.verified,
})

/** What is shown of the agent that offers a service. */
export interface Seller {
  readonly agent: AgentSummary
  /** The open networks on which it can be paid. */
  readonly payableOn: Network[]
}

export const presentFound = (
  { listing, why }: Found,
  { agent, payableOn }: Seller,
  explain: boolean,
): FoundService => ({
  ...presentServiceSummary(listing),
  agent: presentListedAgent(agent),
  payable_on: payableOn,
  ...(explain && why !== undefined && { why }),
})

export const presentShown = (
  listing: Listing,
  { agent, payableOn }: Seller,
  ctx: Pick<HandlerContext, 'chains' | 'facilitators'>,
): ShownService => ({
  ...presentService(listing),
  agent: presentListedAgent(agent),
  payable_on: payableOn,
  // The price of a quote is only where it begins.
  payment:
    listing.price === null || listing.priceType === 'quote'
      ? []
      : presentSignable(ctx, payableOn, listing.price),
})

/** Each value with the number of services that it finds together with the other filters. */
export function presentFacets(counts: ListingCounts, filter: CountedFilter): Facets {
  const countsOf = <Value extends string>(
    values: readonly Value[],
    filterOf: (value: Value) => CountedFilter,
  ) =>
    Object.fromEntries(
      values.map((value) => [value, matchesOf(counts, { ...filter, ...filterOf(value) })]),
    ) as Record<Value, number>
  return {
    categories: countsOf(CATEGORIES, (category) => ({ category })),
    price_types: countsOf(PriceType.options, (priceType) => ({ priceType })),
    networks: countsOf(NETWORKS, (network) => ({ network })),
    counted_at: counts.countedAt.toISOString(),
  }
}
