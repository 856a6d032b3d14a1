import type { InputOf } from '@market/contract/define'
import type { Operations } from '@market/contract/operations'
import { formatUsd } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import {
  type ContestedPurchase,
  listContests,
  listPayable,
  listTrending,
  REGISTRATION,
  resolveRegistration,
} from '@market/trade/x402'
import { handler } from '../handler.ts'
import { readDocument } from './catalog.ts'
import { directoryList, directorySearch } from './directory.ts'
import { presentPayableService } from './present-payable.ts'

type Chain = NonNullable<InputOf<Operations['listPayableServices']>['chain']>

const NETWORK_OF: Readonly<Record<Chain, Network>> = {
  solana: 'solana-mainnet',
  base: 'base-mainnet',
  alt: 'alt-mainnet',
}

const presentContest = ({ purchase, contestedAt, endsAt, transfer, namings }: ContestedPurchase) => ({
  purchase_id: purchase.id,
  order_id: purchase.subject === REGISTRATION ? null : purchase.resultId,
  agent_id: purchase.subject === REGISTRATION ? purchase.resultId : null,
  contested_at: contestedAt.toISOString(),
  ends_at: endsAt?.toISOString() ?? null,
  network: purchase.network,
  tx_hash: purchase.reference,
  payer: transfer.payer,
  paid_at: transfer.happenedAt.toISOString(),
  amount_usd: formatUsd(transfer.amount),
  namings: namings.map(({ subject, request, due, at }) => ({
    subject,
    request: { ...request },
    amount_usd: formatUsd(due),
    named_at: at.toISOString(),
  })),
})

export const x402Handlers = {
  listContests: handler('listContests', {
    run: (ctx, input) => listContests(ctx, input),
    present: ({ contests, nextCursor }) => ({ data: contests.map(presentContest), next_cursor: nextCursor }),
  }),

  resolveRegistration: handler('resolveRegistration', {
    run: (ctx, { purchase_id, outcome, note }) =>
      resolveRegistration(ctx, purchase_id as `hir_${string}`, outcome, note),
    present: ({ id, outcome }) => ({ data: { purchase_id: id, outcome } }),
  }),

  listDirectory: handler('listDirectory', {
    run: (ctx, input) => readDocument(ctx, directoryList(input)),
    present: (document) => document as never,
  }),

  searchDirectory: handler('searchDirectory', {
    run: (ctx, input) => readDocument(ctx, directorySearch(input)),
    present: (document) => document as never,
  }),

  listPayableServices: handler('listPayableServices', {
    run: (ctx, { chain, ...asked }) =>
      listPayable(ctx, { ...asked, networks: chain === undefined ? undefined : [NETWORK_OF[chain]] }),
    present: ({ found, nextCursor }, ctx) => ({
      data: found.map((each) => presentPayableService(each, ctx)),
      next_cursor: nextCursor,
    }),
  }),

  listTrendingServices: handler('listTrendingServices', {
    run: (ctx, { limit, window_days }) => listTrending(ctx, { limit, windowDays: window_days }),
    present: (trending, ctx) => ({
      data: trending.map((each) => ({
        ...presentPayableService(each, ctx),
        recent_buyers: each.recentBuyers,
        recent_orders: each.recentOrders,
      })),
    }),
  }),
}
