import {
  CATEGORIES,
  type Category,
  NETWORKS,
  type NetworkName,
  PRICE_TYPES,
  type PriceType,
  SERVICE_SORTS,
  type ServiceSort,
  TURNAROUNDS,
} from './names.ts'

/** The filters of the shop, as they stand in the address. What is not valid there is left out. */
export interface ServiceFilter {
  readonly search?: string
  readonly category?: Category
  readonly price_type?: PriceType
  readonly min_price?: string
  readonly max_price?: string
  readonly network?: NetworkName
  readonly max_turnaround_hours?: number
  readonly sort?: ServiceSort
  readonly cursor?: string
}

/** The longest search of the API. */
const MAX_SEARCH = 100

type Parameters = Readonly<Record<string, unknown>>

export function filterOf(parameters: Parameters): ServiceFilter {
  const category = oneOf(CATEGORIES, parameters['category'])
  const priceType = oneOf(PRICE_TYPES, parameters['price_type'])
  const sort = oneOf(SERVICE_SORTS, parameters['sort'])
  const network = oneOf(NETWORKS, parameters['network'])
  const turnaround = TURNAROUNDS.find(([hours]) => hours === String(parameters['max_turnaround_hours']))
  const search = textOf(parameters['search'])?.slice(0, MAX_SEARCH)
  const cursor = textOf(parameters['cursor'])
  const least = amountOf(parameters['min_price'])
  const most = amountOf(parameters['max_price'])
  return {
    ...(search !== undefined && { search }),
    ...(category !== undefined && { category }),
    ...(priceType !== undefined && { price_type: priceType }),
    ...(least !== undefined && { min_price: least }),
    ...(most !== undefined && { max_price: most }),
    ...(network !== undefined && { network }),
    ...(turnaround !== undefined && { max_turnaround_hours: Number(turnaround[0]) }),
    ...(sort !== undefined && { sort }),
    ...(cursor !== undefined && { cursor }),
  }
}

/** A word of a search or a cursor. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

const oneOf = <Key extends string>(names: Readonly<Record<Key, unknown>>, value: unknown): Key | undefined =>
  typeof value === 'string' && Object.hasOwn(names, value) ? (value as Key) : undefined

const amountOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{1,7}(\.\d{1,6})?$/.test(value) ? value : undefined
