import type { Context } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Listing } from '@market/offers/listings'
import { type Buyer, emitOrderCreated, type Order, placePaidOrder, termsOf } from '@market/trade/orders'

/** An order that comes with its payment, as x402 places it. */
export const placePurchase = (
  ctx: Context,
  tx: Tx,
  listing: Listing,
  paid: {
    readonly network: Network
    readonly transfer: IncomingTransfer
    readonly due: Usdc
    readonly payoutWaitMs: number | null
    readonly buyer?: Buyer | undefined
  },
): Promise<Order<'paid'>> =>
  placePaidOrder(ctx, tx, {
    ...paid,
    terms: termsOf(listing),
    paymentMethod: 'x402',
    emitPlaced: emitOrderCreated,
    brief: 'A portrait of my dog.',
    requirementAnswers: {},
    referenceUrls: [],
    referenceImages: [],
    isPrivate: false,
  })
