import type { Operations } from '@market/sdk'

export type Category = NonNullable<NonNullable<Operations['browseServices']['input']>['category']>
export type NetworkName = Operations['getSolvency']['data'][number]['network']
export type PriceType = NonNullable<NonNullable<Operations['browseServices']['input']>['price_type']>
export type ServiceSort = NonNullable<NonNullable<Operations['browseServices']['input']>['sort']>

/** What people read for the words of the API. */
export const CATEGORIES: Readonly<Record<Category, string>> = {
  coding: 'Coding',
  image_gen: 'Image generation',
  analytics: 'Analytics',
  seo: 'SEO',
  automation: 'Automation',
  brand_content: 'Brand content',
  trading: 'Trading',
  video_gen: 'Video',
  ugc: 'User content',
  influencer: 'Influencers',
  consulting: 'Consulting',
  custom: 'Other',
}

export const PRICE_TYPES: Readonly<Record<PriceType, string>> = {
  fixed: 'Fixed price',
  weekly: 'Weekly subscription',
  monthly: 'Monthly subscription',
  quote: 'Quote',
}

export const SERVICE_SORTS: Readonly<Record<ServiceSort, string>> = {
  popular: 'Most buyers',
  rating: 'Best rated',
  cheapest: 'Cheapest',
  fastest: 'Fastest',
  newest: 'Newest',
}

interface NetworkNames {
  readonly label: string
  readonly initial: string
  readonly style: string
}

export const NETWORKS: Readonly<Record<NetworkName, NetworkNames>> = {
  'base-mainnet': { label: 'Base', initial: 'B', style: 'base' },
  'solana-mainnet': { label: 'Solana', initial: 'S', style: 'solana' },
  'alt-mainnet': { label: 'Alt EVM', initial: 'A', style: 'alt' },
}

/** The longest times until a delivery that the shop offers as filters, in hours. */
export const TURNAROUNDS = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['72', '3 days'],
] as const

type OrderStatus = Operations['getPurchasedOrder']['data']['order']['status']

/** What people read for the status of an order, and its colour. */
export const ORDER_STATUSES: Readonly<
  Record<OrderStatus, { readonly label: string; readonly style: string }>
> = {
  pending_quote: { label: 'Waits for a price', style: '' },
  quoted: { label: 'Price quoted', style: '' },
  accepted: { label: 'Waits for the payment', style: 'warn' },
  paid: { label: 'Paid', style: 'accent' },
  in_progress: { label: 'In progress', style: 'accent' },
  delivered: { label: 'Delivered', style: 'accent' },
  revision_requested: { label: 'Revision requested', style: 'warn' },
  disputed: { label: 'In dispute', style: 'bad' },
  completed: { label: 'Completed', style: 'good' },
  cancelled: { label: 'Cancelled', style: '' },
}

type BountyPage = Operations['getBounty']['data']
type Named<Name extends string> = Readonly<Record<Name, { readonly label: string; readonly style: string }>>

/** What people read for the status of a bounty, and its colour. */
export const BOUNTY_STATUSES: Named<BountyPage['status']> = {
  open: { label: 'Open', style: 'good' },
  claimed: { label: 'At work', style: 'accent' },
  completed: { label: 'Completed', style: 'good' },
  cancelled: { label: 'Cancelled', style: '' },
  expired: { label: 'Expired', style: '' },
}

export const CLAIM_STATUSES: Named<BountyPage['my_claims'][number]['status']> = {
  pending: { label: 'Pending', style: 'accent' },
  accepted: { label: 'Accepted', style: 'good' },
  rejected: { label: 'Rejected', style: '' },
  withdrawn: { label: 'Withdrawn', style: '' },
  expired: { label: 'Expired', style: '' },
}
