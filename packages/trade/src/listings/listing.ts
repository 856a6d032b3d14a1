import { ApiError, type Details } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'

export type PriceType = 'fixed' | 'quote' | 'weekly' | 'monthly'

export type FieldType = 'text' | 'textarea' | 'url' | 'number' | 'select'

/** One question a buyer answers with the order. */
export interface RequirementField {
  readonly label: string
  readonly type: FieldType
  readonly required: boolean
  readonly placeholder?: string | undefined
  /** What a `select` offers; no other type has them. */
  readonly options?: readonly string[] | undefined
}

/** What the seller says about a listing; the rest is counted or given. */
export interface Offer {
  readonly category: string
  readonly title: string
  readonly description: string
  readonly priceType: PriceType
  /** Null only for a quote; there a price given is a "from". */
  readonly price: Usdc | null
  readonly turnaroundHours: number
  readonly deliverables: readonly string[]
  readonly demoUrl: string | null
  /** How many generations a buyer gets; 0 is none. */
  readonly quotaLimit: number
  readonly maxRevisions: number
  readonly requirementFields: readonly RequirementField[]
}

export interface Listing extends Offer {
  readonly id: ListingId
  readonly agentId: AgentId
  readonly slug: string
  readonly active: boolean
  /** Whether its agent has an owner; a listing of one that has none appears nowhere. */
  readonly marketable: boolean
  readonly totalOrders: number
  readonly completedOrders: number
  /** Distinct buyers of settled orders. */
  readonly settledBuyers: number
  readonly ratingSum: number
  readonly ratingCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A subscription is bought by the period, so it says how much a period holds. */
const NEEDS_QUOTA: Readonly<Record<PriceType, boolean>> = {
  fixed: false,
  quote: false,
  weekly: true,
  monthly: true,
}

/** What is wrong with an offer as a whole, in the words of the contract's fields; each field alone was checked. */
export function faultsOf(
  offer: Pick<Offer, 'priceType' | 'price' | 'quotaLimit' | 'requirementFields'>,
): Details {
  const faults: { path: string; message: string }[] = []
  if (offer.price === null && offer.priceType !== 'quote')
    faults.push({ path: 'price_usd', message: 'must be given, unless price_type is quote' })
  if (NEEDS_QUOTA[offer.priceType] && offer.quotaLimit < 1)
    faults.push({ path: 'quota_limit', message: `must be at least 1 when price_type is ${offer.priceType}` })
  return [...faults, ...offer.requirementFields.flatMap(faultsOfField)]
}

function faultsOfField(field: RequirementField, at: number, all: readonly RequirementField[]): Details {
  const path = `requirement_fields.${at}`
  const faults: { path: string; message: string }[] = []
  // Answers are keyed by label, so two of one label could not be told apart.
  if (all.findIndex((other) => foldLabel(other) === foldLabel(field)) < at)
    faults.push({ path: `${path}.label`, message: 'must differ from the labels before it' })
  if (UNSPEAKABLE.has(field.label)) faults.push({ path: `${path}.label`, message: 'must be another word' })
  const options = field.options ?? []
  if (field.type === 'select' && options.length === 0)
    faults.push({ path: `${path}.options`, message: 'must name at least one option for a select' })
  if (field.type !== 'select' && options.length > 0)
    faults.push({ path: `${path}.options`, message: 'must be left out unless type is select' })
  if (new Set(options).size < options.length)
    faults.push({ path: `${path}.options`, message: 'must each be different' })
  return faults
}

/** Keys no JSON body may hold, so that an answer under such a label could never be sent. */
const UNSPEAKABLE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const foldLabel = ({ label }: RequirementField): string => label.normalize('NFKC').toLowerCase()

export function rejectBadOffer(offer: Offer): void {
  const details = faultsOf(offer)
  if (details.length === 0) return
  const [first] = details
  throw new ApiError('invalid', `${first?.path} ${first?.message}`, { details })
}

/** More than anybody reads; what is not asked for any more can be deactivated. */
export const MOST_ACTIVE = 200

export function rejectTooMany(active: number): void {
  if (active <= MOST_ACTIVE) return
  throw new ApiError(
    'conflict',
    `An agent has at most ${MOST_ACTIVE} active services. Deactivate one (DELETE /api/services/{service_id}) first.`,
    { code: 'too_many_services' },
  )
}

export const isShown = (listing: Listing): boolean => listing.active && listing.marketable

export function averageRating(listing: Listing): number | null {
  return listing.ratingCount === 0 ? null : Math.round((listing.ratingSum / listing.ratingCount) * 100) / 100
}

export const listingNotFound = (id: string): ApiError =>
  new ApiError('not_found', `There is no service ${JSON.stringify(id)}`, { code: 'service_not_found' })
