import { slugify } from '@market/identity/names'
import { ApiError, type Details } from '@market/kernel/api-error'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { rejectLarger } from '@market/kernel/json-size'
import { formatUsd, type Usdc } from '@market/kernel/money'

export type PriceType = 'fixed' | 'quote' | 'weekly' | 'monthly'

export type FieldType = 'text' | 'textarea' | 'url' | 'number' | 'select'

/** A question that the buyer answers in the order. */
export interface RequirementField {
  readonly label: string
  readonly type: FieldType
  readonly required: boolean
  readonly placeholder?: string | undefined
  /** The choices of a `select`; other types have none. */
  readonly options?: readonly string[] | undefined
}

/** The fields of a listing that the seller sets. */
export interface Offer {
  readonly category: string
  readonly title: string
  readonly description: string
  readonly priceType: PriceType
  /** Null only for a quote. The price of a quote is a minimum ("from") price. */
  readonly price: Usdc | null
  readonly turnaroundHours: number
  readonly deliverables: readonly string[]
  readonly demoUrl: string | null
  /** The number of generations per period; 0 for none. */
  readonly quotaLimit: number
  readonly maxRevisions: number
  readonly requirementFields: readonly RequirementField[]
}

export interface Listing extends Offer {
  readonly id: ListingId
  readonly agentId: AgentId
  readonly slug: string
  readonly active: boolean
  /** Whether its agent has an owner. Otherwise the listing is not public. */
  readonly marketable: boolean
  readonly totalOrders: number
  readonly completedOrders: number
  /** Distinct buyers of settled orders. */
  readonly completedBuyers: number
  readonly ratingSum: number
  readonly ratingCount: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A listing as lists of many read it: without its longest fields. */
export type ListingSummary = Omit<Listing, 'deliverables' | 'demoUrl' | 'requirementFields'>

const SLUG_LENGTH = 80

export const slugOf = (title: string): string => slugify(title, SLUG_LENGTH) || 'service'

/** A subscription must set how much a period includes. */
const NEEDS_QUOTA: Readonly<Record<PriceType, boolean>> = {
  fixed: false,
  quote: false,
  weekly: true,
  monthly: true,
}

/** Checks the rules across fields; the contract has checked each field. */
export function offerErrors(
  offer: Pick<Offer, 'priceType' | 'price' | 'quotaLimit' | 'requirementFields'>,
  minPrice: Usdc,
): Details {
  const errors: { path: string; message: string }[] = []
  if (offer.price === null && offer.priceType !== 'quote')
    errors.push({ path: 'price_usd', message: 'is required unless price_type is quote' })
  if (isBelow(offer, minPrice)) errors.push(belowMinimum(minPrice))
  if (NEEDS_QUOTA[offer.priceType] && offer.quotaLimit < 1)
    errors.push({ path: 'quota_limit', message: `must be at least 1 when price_type is ${offer.priceType}` })
  return [...errors, ...offer.requirementFields.flatMap(fieldErrors)]
}

function fieldErrors(field: RequirementField, at: number, all: readonly RequirementField[]): Details {
  const path = `requirement_fields.${at}`
  const errors: { path: string; message: string }[] = []
  // Answers are keyed by label, so labels must be unique.
  if (all.findIndex((other) => foldLabel(other) === foldLabel(field)) < at)
    errors.push({ path: `${path}.label`, message: 'must be unique; an earlier field has the same label' })
  if (RESERVED_LABELS.has(field.label))
    errors.push({ path: `${path}.label`, message: `must not be ${field.label}, which is reserved` })
  const options = field.options ?? []
  if (field.type === 'select' && options.length === 0)
    errors.push({ path: `${path}.options`, message: 'must have at least one option when type is select' })
  if (field.type !== 'select' && options.length > 0)
    errors.push({ path: `${path}.options`, message: 'must be omitted unless type is select' })
  if (new Set(options).size < options.length)
    errors.push({ path: `${path}.options`, message: 'must be unique' })
  return errors
}

/** JSON bodies with these keys are rejected, so a field with such a label could not be answered. */
const RESERVED_LABELS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const foldLabel = ({ label }: RequirementField): string => label.normalize('NFKC').toLowerCase()

/** A price from before there was a minimum can be below it. Such a listing is not offered until it has another one. */
export const isBelow = ({ price }: Pick<Offer, 'price'>, minPrice: Usdc): boolean =>
  price !== null && price < minPrice

const belowMinimum = (minPrice: Usdc) => ({
  path: 'price_usd',
  message: `must be at least ${formatUsd(minPrice)}`,
})

export function rejectLowPrice(price: Usdc, minPrice: Usdc): void {
  if (!isBelow({ price }, minPrice)) return
  const error = belowMinimum(minPrice)
  throw new ApiError('invalid', `${error.path} ${error.message}`, { details: [error] })
}

export function rejectInvalidOffer(offer: Offer, minPrice: Usdc): void {
  const details = offerErrors(offer, minPrice)
  const [first] = details
  if (first !== undefined) throw new ApiError('invalid', `${first.path} ${first.message}`, { details })
}

const MAX_BYTES = 16 * 1024

/** Everybody who reads lists pays for the bytes of a listing. Counts the fields as the API names and writes them. */
export const rejectLargeOffer = (offer: Offer): void =>
  rejectLarger(MAX_BYTES, 'service', {
    category: offer.category,
    title: offer.title,
    description: offer.description,
    price_usd: offer.price === null ? null : formatUsd(offer.price),
    price_type: offer.priceType,
    turnaround_hours: offer.turnaroundHours,
    deliverables: offer.deliverables,
    demo_url: offer.demoUrl,
    quota_limit: offer.quotaLimit,
    max_revisions: offer.maxRevisions,
    requirement_fields: offer.requirementFields,
  })

export const MAX_ACTIVE = 200

export function rejectTooManyActive(active: number): void {
  if (active <= MAX_ACTIVE) return
  throw new ApiError(
    'conflict',
    `An agent can have at most ${MAX_ACTIVE} active services. Deactivate one with DELETE /api/services/{service_id} first.`,
    { code: 'too_many_services' },
  )
}

export function averageRating(listing: ListingSummary): number | null {
  return listing.ratingCount === 0 ? null : Math.round((listing.ratingSum / listing.ratingCount) * 100) / 100
}

export const listingNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Service ${JSON.stringify(id)} does not exist.`, { code: 'service_not_found' })
