import { operations } from '@market/contract/operations'
import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { findRequirementFields, type RequirementField } from '@market/offers/listings'
import { countPayable, listPayable, openNetworks, type PayableAsked } from '@market/trade/x402'
import type { AppServices } from '../app-services.ts'
import type { ApiResponse, Call } from '../call.ts'
import { envelope } from '../envelope.ts'
import { rateLimited } from '../rate-limited.ts'
import { type CachedDocument, cachedDocument } from './cached-document.ts'
import { type CatalogItem, catalogItemOf } from './catalog-item.ts'

/** A network on which a purchase can be paid now. */
interface OpenNetwork {
  readonly network: Network
  /** Its name in x402 version 2; undefined where only transfers that were already made are accepted. */
  readonly caip2: string | undefined
  readonly asset: string
  readonly payTo: string
}

/** Reads what a catalog document is built from. */
export interface CatalogReader {
  readonly baseUrl: string
  readonly networks: readonly OpenNetwork[]
  page(asked: PayableAsked): Promise<{ items: CatalogItem[]; nextCursor: string | null }>
  /** The questions that each service asks, which only one document shows. */
  questions(
    items: readonly CatalogItem[],
  ): Promise<ReadonlyMap<CatalogItem['id'], readonly RequirementField[]>>
  /** The number of payable services, counted up to `most`. */
  count(most: number, networks?: readonly Network[]): Promise<number>
}

export const catalogReader = (
  ctx: Needs<'db' | 'clock' | 'chains' | 'facilitators' | 'baseUrl' | 'minPrice'>,
): CatalogReader => ({
  baseUrl: ctx.baseUrl,
  networks: openNetworks(ctx).flatMap((network) => {
    const chain = ctx.chains[network]
    const caip2 = ctx.facilitators[network]?.caip2
    return chain === undefined ? [] : [{ network, caip2, asset: chain.usdc, payTo: chain.treasury }]
  }),
  page: async (asked) => {
    const { found, nextCursor } = await listPayable(ctx, asked)
    const items = found.map((each) => catalogItemOf(each, ctx.baseUrl))
    return { items, nextCursor: nextCursor(items.length) }
  },
  questions: (items) =>
    findRequirementFields(
      ctx.db,
      items.map(({ id }) => id),
    ),
  count: (most, networks) => countPayable(ctx, { networks, most }),
})

/** The document as bytes, which are made once until its time in the cache ends. */
export const readDocument = (
  app: Parameters<typeof catalogReader>[0] & Pick<AppServices, 'documents'>,
  { key, build }: CatalogDocument,
): Promise<CachedDocument> => app.documents(key, async () => cachedDocument(await build(catalogReader(app))))

/** A document of the catalog; the same key means the same document. */
export interface CatalogDocument {
  readonly key: string
  readonly build: (reader: CatalogReader) => Promise<unknown>
}

/** Serves catalog documents that are not operations: their paths and formats are defined by others. */
export type ServeDocument = (
  call: Pick<Call, 'address' | 'requestId'>,
  document: () => CatalogDocument,
) => Promise<ApiResponse>

export const catalogDocuments =
  (app: AppServices): ServeDocument =>
  (call, document) =>
    rateLimited(app, operations.listDirectory, call, async () => {
      return envelope(operations.listDirectory, await readDocument(app, document()))
    })
