import type { Listing } from './listing.ts'

export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Why a listing stands where it stands in a search: parts that add up to its score. */
export interface Why {
  readonly relevance: number
  readonly buyers: number
  readonly rating: number
  readonly freshness: number
  readonly score: number
}

export interface Found {
  readonly listing: Listing
  readonly why?: Why
}

export interface ListingPage {
  readonly found: readonly Found[]
  readonly nextCursor: string | null
}

/** One row more than was asked for says whether there is a next page. */
export function pageOf<T extends Found>(
  rows: readonly T[],
  limit: number,
  cursorOf: (row: T) => string,
): ListingPage {
  const found = rows.slice(0, limit)
  const last = found.at(-1)
  return { found, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
