import type { Goods } from '@market/handlers/x402/goods'

export const PROVIDER = 'Agent Market'

/** One service as the Bazaar lists it. */
export const directoryItem = (goods: Goods) => ({
  resource: goods.resource,
  type: 'http',
  x402Version: 2,
  accepts: goods.accepts,
  lastUpdated: goods.updatedAt,
  description: goods.line,
  mimeType: 'application/json',
  serviceName: goods.name,
  tags: goods.tags,
  metadata: { category: goods.category, provider: PROVIDER },
  extensions: { bazaar: goods.declared },
})
