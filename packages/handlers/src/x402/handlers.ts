import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import type { Network } from '@market/kernel/network'
import { listPayable, listTrending } from '@market/trade/x402'
import { type HandlerContext, handler } from '../handler.ts'
import { type CatalogDocument, catalogReader } from './catalog.ts'
import { directoryList, directorySearch } from './directory.ts'
import { presentPayable } from './present-payable.ts'

type Chain = NonNullable<InputOf<Operations['listPayableServices']>['chain']>

const NETWORK_OF: Readonly<Record<Chain, Network>> = {
  solana: 'solana-mainnet',
  base: 'base-mainnet',
  alt: 'alt-mainnet',
}

const read = (ctx: HandlerContext, { key, build }: CatalogDocument) =>
  ctx.documents(key, () => build(catalogReader(ctx)))

export const x402Handlers = {
  listDirectory: handler('listDirectory', {
    run: (ctx, input) => read(ctx, directoryList(input)),
    present: (document) => ({ data: document as never }),
  }),

  searchDirectory: handler('searchDirectory', {
    run: (ctx, input) => read(ctx, directorySearch(input)),
    present: (document) => ({ data: document as never }),
  }),

  listPayableServices: handler('listPayableServices', {
    run: (ctx, { chain, ...asked }) =>
      listPayable(ctx, { ...asked, networks: chain === undefined ? undefined : [NETWORK_OF[chain]] }),
    present: ({ found, nextCursor }, ctx) => ({
      data: found.map((each) => presentPayable(each, ctx)),
      next_cursor: nextCursor,
    }),
  }),

  listTrendingServices: handler('listTrendingServices', {
    run: (ctx, { limit, window_days }) => listTrending(ctx, { limit, windowDays: window_days }),
    present: (trending, ctx) => ({
      data: trending.map((each) => ({
        ...presentPayable(each, ctx),
        recent_buyers: each.recentBuyers,
        recent_orders: each.recentOrders,
      })),
    }),
  }),
}
