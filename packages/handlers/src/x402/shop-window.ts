import { operations } from '@market/contract/operations'
import type { Network } from '@market/kernel/network'
import { countPayable, listPayable, openNetworks, type PayableAsked } from '@market/trade/x402'
import { answerLimited } from '../answer-limited.ts'
import type { Answer, Call } from '../call.ts'
import type { House } from '../house.ts'
import { type Goods, goodsOf } from './goods.ts'
import { keepFor } from './kept.ts'

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
export interface Shop {
  readonly baseUrl: string
  readonly networks: readonly OpenNetwork[]
  page(asked: PayableAsked): Promise<{ goods: Goods[]; nextCursor: string | null }>
  /** How many there are, counted up to `most`. */
  count(most: number, networks?: readonly Network[]): Promise<number>
}

/** One catalogue as it is asked for; two of the same key are the same. */
export interface Showing {
  readonly key: string
  readonly show: (shop: Shop) => Promise<string>
}

export interface ShopWindow {
  /** Counts the call as a read, then shows what `ask` makes of it, or says why not. */
  look(asked: Pick<Call, 'address' | 'requestId'>, ask: () => Showing): Promise<Answer>
}

/** What is for sale, for doors that speak other people's formats. */
export function shopWindow(house: House, keptMs = KEPT_MS): ShopWindow {
  const keep = keepFor<string>(keptMs)
  return {
    look: (asked, ask) =>
      answerLimited(house, operations.listPayableServices, asked, async () => {
        const { key, show } = ask()
        const body = await keep(key, async () => show(shopOf(house)))
        return { status: 200, body, headers: { 'Cache-Control': `public, max-age=${keptMs / 1_000}` } }
      }),
  }
}

const shopOf = (house: House): Shop => ({
  baseUrl: house.baseUrl,
  networks: openNetworks(house).flatMap((network) => {
    const chain = house.chains[network]
    const caip2 = house.facilitators[network]?.caip2
    return chain === undefined ? [] : [{ network, caip2, asset: chain.usdc, payTo: chain.treasury }]
  }),
  page: async (asked) => {
    const { found, nextCursor } = await listPayable(house, asked)
    return { goods: found.map((each) => goodsOf(each, house.baseUrl)), nextCursor }
  },
  count: (most, networks) => countPayable(house, { networks, most }),
})
