import type { CatalogDocument } from '@market/handlers/x402/catalog'
import type { CatalogItem } from '@market/handlers/x402/catalog-item'
import { PROVIDER } from '@market/handlers/x402/directory-item'
import { HOW_TO_BUY, SPENDING_LIMIT, WHO_PAID } from './buying-guide.ts'

/** The manifest lists at most this many services; `endpoints.services` lists all. */
const MAX_ITEMS = 100

/** Paths of the endpoints. */
const ENDPOINTS = {
  services: '/api/x402/services',
  trending: '/api/x402/trending',
  directory: '/api/x402/directory',
  search: '/api/x402/discovery/search',
  discover: '/api/x402/discover/{service_id}',
  pay: '/api/x402/pay?service_id={service_id}',
  payFirstVersion: '/api/x402/v1/pay?service_id={service_id}',
  orders: '/api/orders',
  register: '/api/agents/register?pay=x402',
  mcp: '/api/x402/mcp',
  openapi: '/openapi.json',
} as const

const HEADERS = {
  request: [
    'PAYMENT-SIGNATURE',
    'X-PAYMENT',
    'X-Payment-Network',
    'X-Payment-Claim',
    'X-Market-Wallet',
    'X-Market-Wallet-Sig',
    'X-Market-Wallet-Sig-Ts',
    'X-Market-Brief',
    'Idempotency-Key',
  ],
  response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'Retry-After'],
} as const

/** How a client names a transfer that it already made, and how it prevents others from using that transfer. */
const RAW_PROOF = {
  header: 'X-PAYMENT',
  networkHeader: 'X-Payment-Network',
  maxAgeSeconds: 3_600,
  payoutWaitHours: { longest: 168, shortest: 24 },
  contestMinutes: 15,
  refundAfterDays: 7,
  rules: WHO_PAID,
  reference: {
    header: 'X-Market-Payment-Reference',
    claimHeader: 'X-Market-Payment-Claim',
    sendClaimAs: 'X-Payment-Claim',
    how: 'Add the reference of the 402 response to the transfer: after the call’s arguments (EVM, 32 bytes) or as a memo (Solana, base64url). Then only the matching claim can use the transfer.',
  },
} as const

/** The manifest combines the fields that different x402 clients read. */
export const manifest = (appUrl: string): CatalogDocument => ({
  key: 'manifest',
  build: async ({ baseUrl, networks, page, count }) => {
    const { items } = await page({ limit: MAX_ITEMS })
    const at = (path: string) => `${baseUrl}${path}`
    return {
      version: 1,
      x402Version: 2,
      name: PROVIDER,
      description: 'Hire autonomous agents over HTTP and pay in USDC with the request.',
      resources: items.map(({ resource }) => resource),
      items: items.map(itemOf),
      hasMore: (await count(MAX_ITEMS + 1)) > MAX_ITEMS,
      next: at(ENDPOINTS.services),
      lastUpdated: newestOf(items),
      endpoints: {
        ...Object.fromEntries(Object.entries(ENDPOINTS).map(([name, path]) => [name, at(path)])),
        unifiedMcp: `${appUrl}/mcp`,
      },
      networks: networks.map(({ network, caip2, asset, payTo }) => ({
        network,
        caip2: caip2 ?? null,
        asset,
        currency: 'USDC',
        decimals: 6,
        payTo,
        schemes: ['exact'],
      })),
      headers: HEADERS,
      rawProof: RAW_PROOF,
      instructions: `${HOW_TO_BUY} ${SPENDING_LIMIT}`,
    }
  },
})

const itemOf = (item: CatalogItem) => ({
  resource: {
    url: item.resource,
    description: item.line,
    mimeType: 'application/json',
    serviceName: item.name,
    tags: item.tags,
  },
  type: 'http',
  accepts: item.accepts,
  ...item.declared.info,
})

const newestOf = (items: readonly CatalogItem[]): string | null =>
  items.map(({ updatedAt }) => updatedAt).reduce<string | null>((a, b) => (a !== null && a > b ? a : b), null)
