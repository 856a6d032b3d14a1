import { operations } from '@market/contract/operations'
import { SECOND } from '@market/kernel/clock'
import { ttlCache } from '@market/kernel/ttl-cache'
import type { ListingCounts } from '@market/offers/listings'
import { paymentLookups, type Quote } from '@market/trade/x402'
import type { AppServices } from './app-services.ts'
import type { ApiResponse } from './call.ts'
import { bytesOfShared, SHARED_READS_BYTES } from './shared-read.ts'
import type { CachedDocument } from './x402/cached-document.ts'

const DOCUMENT_MS = (operations.listDirectory.cacheSeconds ?? 0) * SECOND

/** Counting reads every service. */
const LISTING_COUNTS_MS = 60 * SECOND

interface CacheTimes {
  readonly documentMs?: number
  /** How long responses that everybody gets are kept; 0 keeps none. */
  readonly sharedReadMs: number
}

/** What one process remembers between requests. */
export const createCaches = ({
  documentMs = DOCUMENT_MS,
  sharedReadMs,
}: CacheTimes): Pick<
  AppServices,
  'quotes' | 'documents' | 'listingCounts' | 'paymentLookups' | 'sharedReads'
> => ({
  paymentLookups: paymentLookups(),
  quotes: ttlCache<Quote>(1 * SECOND, { size: 1_000 }),
  documents: ttlCache<CachedDocument>(documentMs),
  sharedReads: ttlCache<ApiResponse>(sharedReadMs, { size: SHARED_READS_BYTES, sizeOf: bytesOfShared }),
  listingCounts: ttlCache<ListingCounts>(LISTING_COUNTS_MS, { size: 1 }),
})
