import { operations } from '@market/contract/operations'
import type { Network } from '@market/kernel/network'
import { countPayable, listPayable, openNetworks, type PayableAsked } from '@market/trade/x402'
import { answerLimited } from '../answer-limited.ts'
import type { AppServices } from '../app-services.ts'
import type { Answer, Call } from '../call.ts'
import { type CatalogItem, catalogItemOf } from './catalog-item.ts'
import { ttlCache } from './ttl-cache.ts'

/** Caches between us and the reader keep it as long again, so that nothing shown is older than a minute. */
const KEPT_MS = 30_000

/** A network on which programs can pay now. */
interface OpenNetwork {
  readonly network: Network
  /** As version 2 of the protocol names it; undefined where only transfers that were made already are taken. */
  readonly caip2: string | undefined
  readonly asset: string
  readonly payTo: string
}

/** All that a catalogue is made of. */
export interface CatalogReader {
  readonly baseUrl: string
  readonly networks: readonly OpenNetwork[]
  page(asked: PayableAsked): Promise<{ items: CatalogItem[]; nextCursor: string | null }>
  /** How many there are, counted up to `most`. */
  count(most: number, networks?: readonly Network[]): Promise<number>
}

/** One catalogue as it is asked for; two of the same key are the same. */
export interface Showing {
  readonly key: string
  readonly show: (reader: CatalogReader) => Promise<string>
}

export interface Catalog {
  /** Counts the call as a read, then shows what `ask` makes of it, or says why not. */
  look(asked: Pick<Call, 'address' | 'requestId'>, ask: () => Showing): Promise<Answer>
}

/** What is for sale, for doors that speak other people's formats. */
export function catalog(app: AppServices, keptMs = KEPT_MS): Catalog {
  const keep = ttlCache<string>(keptMs)
  return {
    look: (asked, ask) =>
      answerLimited(app, operations.listPayableServices, asked, async () => {
        const { key, show } = ask()
        const body = await keep(key, async () => show(shopOf(app)))
        return { status: 200, body, headers: { 'Cache-Control': `public, max-age=${keptMs / 1_000}` } }
      }),
  }
}

const shopOf = (app: AppServices): CatalogReader => ({
  baseUrl: app.baseUrl,
  networks: openNetworks(app).flatMap((network) => {
    const chain = app.chains[network]
    const caip2 = app.facilitators[network]?.caip2
    return chain === undefined ? [] : [{ network, caip2, asset: chain.usdc, payTo: chain.treasury }]
  }),
  page: async (asked) => {
    const { found, nextCursor } = await listPayable(app, asked)
    return { items: found.map((each) => catalogItemOf(each, app.baseUrl)), nextCursor }
  },
  count: (most, networks) => countPayable(app, { networks, most }),
})
