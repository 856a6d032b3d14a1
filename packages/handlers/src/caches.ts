import { operations } from '@market/contract/operations'
import { SECOND } from '@market/kernel/clock'
import type { Quote } from '@market/trade/x402'
import type { AppServices } from './app-services.ts'
import { ttlCache } from './x402/ttl-cache.ts'

const DOCUMENT_MS = (operations.listDirectory.cacheSeconds ?? 0) * SECOND

/** The caches of one process. */
export const createCaches = (documentMs = DOCUMENT_MS): Pick<AppServices, 'quotes' | 'documents'> => ({
  quotes: ttlCache<Quote>(1 * SECOND, { size: 1_000 }),
  documents: ttlCache<unknown>(documentMs),
})
