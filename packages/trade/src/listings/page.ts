import type { Listing } from './listing.ts'

export interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** The parts that add up to the score of a search result. */
export interface ScoreParts {
  readonly relevance: number
  readonly buyers: number
  readonly rating: number
  readonly freshness: number
  readonly score: number
}

export interface Found {
  readonly listing: Listing
  readonly why?: ScoreParts
}

export interface ListingPage {
  readonly found: readonly Found[]
  readonly nextCursor: string | null
}

/** Expects one row more than the limit, which shows whether there is a next page. */
export function pageOf<T extends Found>(
  rows: readonly T[],
  limit: number,
  cursorOf: (row: T) => string,
): ListingPage {
  const found = rows.slice(0, limit)
  const last = found.at(-1)
  return { found, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
