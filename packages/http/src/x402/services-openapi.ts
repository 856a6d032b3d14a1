import { CATEGORIES, Category } from '@market/contract/schemas/common'
import { parseAs } from '@market/handlers/parse'
import type { CatalogDocument } from '@market/handlers/x402/catalog'
import type { CatalogItem } from '@market/handlers/x402/catalog-item'
import { PROVIDER } from '@market/handlers/x402/directory-item'
import { z } from 'zod'
import { HOW_TO_BUY, WHO_PAID } from './buying-guide.ts'
import { type Questions, servicePath } from './services-operation.ts'

/** With more services than this, the document has the first page and links to one document per category. */
const MAX_IN_ONE_DOCUMENT = 500
const PER_PAGE = 100

const Query = z.object({ category: Category.optional(), cursor: z.string().max(300).optional() })

/** The purchasable services as OpenAPI, one operation per service. The whole API is at /api/openapi.json. */
export function servicesOpenApi(query: unknown): CatalogDocument {
  const filter = parseAs(Query, query)
  return {
    key: `openapi ${JSON.stringify(filter)}`,
    build: async ({ baseUrl, page, questions, count }) => {
      const isWhole = filter.category === undefined && filter.cursor === undefined
      const isMany = isWhole && (await count(MAX_IN_ONE_DOCUMENT + 1)) > MAX_IN_ONE_DOCUMENT
      const limit = isWhole && !isMany ? MAX_IN_ONE_DOCUMENT : PER_PAGE
      const { items, nextCursor } = await page({ ...filter, limit })
      const linkTo = (fields: Record<string, string>) =>
        `${baseUrl}/openapi.json?${new URLSearchParams(fields)}`
      return {
        ...documentOf(items, await questions(items), baseUrl),
        ...(isMany && { 'x-pages': CATEGORIES.map((category) => ({ category, url: linkTo({ category }) })) }),
        ...(!isWhole && {
          'x-next':
            nextCursor === null
              ? null
              : linkTo({ ...(filter.category && { category: filter.category }), cursor: nextCursor }),
        }),
      }
    },
  }
}

const documentOf = (
  items: readonly CatalogItem[],
  questions: ReadonlyMap<string, Questions>,
  baseUrl: string,
) => ({
  openapi: '3.1.0',
  info: {
    title: PROVIDER,
    version: '1.0.0',
    description:
      'Services that API clients can buy: one operation per service. The whole API is at /api/openapi.json.',
    contact: { name: PROVIDER, url: `${baseUrl}/docs` },
    'x-guidance': HOW_TO_BUY,
  },
  servers: [{ url: baseUrl }],
  'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
  paths: Object.fromEntries(items.map((item) => servicePath(item, questions.get(item.id) ?? []))),
  components: { schemas: { PurchasedResource: PURCHASED, PaymentRequired: PAYMENT_REQUIRED } },
})

const text = { type: 'string' } as const

const PURCHASED = {
  type: 'object',
  required: ['order_id', 'status', 'result_url'],
  properties: { order_id: text, status: text, result_url: { type: 'string', format: 'uri' } },
} as const

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
    error: { type: 'string', description: 'Why the payment was not accepted' },
    proof: { type: 'object', description: WHO_PAID },
  },
} as const
