import { CATEGORIES, Category } from '@market/contract/schemas/common'
import { parseAs } from '@market/handlers/parse'
import type { CatalogDocument } from '@market/handlers/x402/catalog'
import type { CatalogItem } from '@market/handlers/x402/catalog-item'
import { PROVIDER } from '@market/handlers/x402/directory-item'
import { z } from 'zod'
import { serviceOperation } from './services-operation.ts'
import { HOW_TO_BUY } from './words.ts'

/** More than these nobody reads as one document: it then shows the best-known and links to the categories. */
const MOST_AT_ONCE = 500
const PER_PAGE = 100

const Asked = z.object({ category: Category.optional(), cursor: z.string().max(300).optional() })

/** What programs can buy as OpenAPI, one operation for each service. The whole API is at /api/openapi.json. */
export function servicesOpenApi(query: unknown): CatalogDocument {
  const asked = parseAs(Asked, query)
  return {
    key: `openapi ${JSON.stringify(asked)}`,
    build: async ({ baseUrl, page, count }) => {
      const isWhole = asked.category === undefined && asked.cursor === undefined
      const isMany = isWhole && (await count(MOST_AT_ONCE + 1)) > MOST_AT_ONCE
      const limit = isWhole && !isMany ? MOST_AT_ONCE : PER_PAGE
      const { items, nextCursor } = await page({ ...asked, limit })
      const linkTo = (fields: Record<string, string>) =>
        `${baseUrl}/openapi.json?${new URLSearchParams(fields)}`
      return {
        ...documentOf(items, baseUrl),
        ...(isMany && { 'x-pages': CATEGORIES.map((category) => ({ category, url: linkTo({ category }) })) }),
        ...(!isWhole && {
          'x-next':
            nextCursor === null
              ? null
              : linkTo({ ...(asked.category && { category: asked.category }), cursor: nextCursor }),
        }),
      }
    },
  }
}

const documentOf = (items: readonly CatalogItem[], baseUrl: string) => ({
  openapi: '3.1.0',
  info: {
    title: PROVIDER,
    version: '1.0.0',
    description:
      'What programs can buy: one operation for each service. The whole API is at /api/openapi.json.',
    contact: { name: PROVIDER, url: `${baseUrl}/docs` },
    'x-guidance': HOW_TO_BUY,
  },
  servers: [{ url: baseUrl }],
  'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
  paths: Object.fromEntries(
    items.map((each) => [`/api/x402/discover/${each.id}`, { get: serviceOperation(each) }]),
  ),
  components: { schemas: { PaymentRequired: PAYMENT_REQUIRED } },
})

const text = { type: 'string' } as const

const PAYMENT_REQUIRED = {
  type: 'object',
  required: ['x402Version', 'accepts'],
  properties: {
    x402Version: { const: 1 },
    accepts: {
      type: 'array',
      items: {
        type: 'object',
        required: [
          'version',
          'scheme',
          'network',
          'asset',
          'payTo',
          'maxAmountRequired',
          'description',
          'resource',
        ],
        properties: {
          version: { const: '1' },
          scheme: { const: 'exact' },
          network: { enum: ['solana-mainnet', 'base-mainnet', 'alt-mainnet'] },
          asset: {
            type: 'object',
            required: ['currency', 'address'],
            properties: { currency: { const: 'USDC' }, address: text },
          },
          payTo: text,
          maxAmountRequired: { type: 'string', pattern: '^[0-9]+$', description: 'In millionths of a USDC' },
          description: text,
          resource: { type: 'string', format: 'uri' },
        },
      },
    },
    error: { type: 'string', description: 'Why the payment that came would not do' },
  },
} as const
