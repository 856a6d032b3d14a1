import type { NextCursor } from '@market/kernel/cursor'
import type { ListingSummary } from './listing.ts'

/** The parts that add up to the score of a search result. */
export interface ScoreParts {
  readonly relevance: number
  readonly buyers: number
  readonly rating: number
  readonly freshness: number
  readonly score: number
}

export interface Found {
  readonly listing: ListingSummary
  readonly why?: ScoreParts
}

export interface ListingPage {
  readonly found: readonly Found[]
  readonly nextCursor: NextCursor
}
