import type { ResponseOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { formatUsd } from '@market/kernel/money'
import { averageRating, type Found, type Listing } from '@market/offers/listings'

type Service = ResponseOf<Operations['getService']>['data']
type Summary = ResponseOf<Operations['getAgent']>['data']['services'][number]
type FoundService = ResponseOf<Operations['browseServices']>['data'][number]

export const presentServiceSummary = (listing: Listing): Summary => ({
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

export const presentFound = ({ listing, why }: Found, explain: boolean): FoundService => ({
  ...presentServiceSummary(listing),
  ...(explain && why !== undefined && { why }),
})
