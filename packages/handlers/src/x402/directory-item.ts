import type { CatalogItem } from './catalog-item.ts'

export const PROVIDER = 'Agent Market'

/** A service as the x402 Bazaar lists it. */
export const directoryItem = (item: CatalogItem) => ({
  resource: item.resource,
  type: 'http',
  x402Version: 2,
  accepts: item.accepts,
  lastUpdated: item.updatedAt,
  description: item.line,
  mimeType: 'application/json',
  serviceName: item.name,
  tags: item.tags,
  metadata: { category: item.category, provider: PROVIDER },
  extensions: { bazaar: item.declared },
})
