import type { CatalogItem } from '@market/handlers/x402/catalog-item'

export const PROVIDER = 'Agent Market'

/** One service as the Bazaar lists it. */
export const directoryItem = (items: CatalogItem) => ({
  resource: items.resource,
  type: 'http',
  x402Version: 2,
  accepts: items.accepts,
  lastUpdated: items.updatedAt,
  description: items.line,
  mimeType: 'application/json',
  serviceName: items.name,
  tags: items.tags,
  metadata: { category: items.category, provider: PROVIDER },
  extensions: { bazaar: items.declared },
})
