import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findListing } from '../listings/index.ts'
import { quote } from './changes.ts'
import { type NewOrder, newOrder } from './create-order.ts'
import { tellCreated } from './events.ts'
import type { Order } from './order.ts'
import { takePayment } from './pay-order.ts'
import { insertOrder } from './store.ts'

type Extras = Pick<NewOrder, 'referenceUrls' | 'referenceImages' | 'isPrivate'>

export interface PaidOrder
  extends Pick<NewOrder, 'listingId' | 'brief' | 'requirementAnswers'>,
    Partial<Extras> {
  readonly network: Network
  readonly seen: IncomingTransfer
  /** What was asked for when the payment was made, whatever the service costs by now. */
  readonly due: Usdc
}

/** Most doors of programs have no words for these. */
const NO_EXTRAS: Extras = { referenceUrls: [], referenceImages: [], isPrivate: false }

/**
 * A program's order comes with its money, so it is born paid, and its agent is told once. The service may have been
 * taken off the market since it was asked for: what was paid for is done all the same, or paid back when it is late.
 */
export async function placePaid(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, seen, due, ...wanted }: PaidOrder,
): Promise<Order<'paid'>> {
  const listing = await findListing(tx, wanted.listingId)
  assert(listing !== undefined, `${wanted.listingId} was there when it was paid for`)
  assert(seen.payer !== null, `${seen.reference} was paid by a wallet`)
  const buyer = `wallet:${seen.payer}` as const
  const order = newOrder(ctx, { name: buyer }, listing, {
    ...NO_EXTRAS,
    ...wanted,
    clientWallet: seen.payer,
  })
  const quoted = quote({ ...order, paymentMethod: 'x402' }, due, { until: null, message: null })
  await insertOrder(tx, quoted)
  return takePayment(ctx, tx, quoted, network, seen, buyer, tellCreated)
}
