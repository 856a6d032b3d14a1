import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { ListingId } from '@market/kernel/ids'
import { findListing } from '@market/offers/listings'
import { type Buyer, emitOrderCreated, placePaidOrder, termsOf } from '../orders/index.ts'
import { registerPaidAgent } from './paid-registration.ts'
import type { Purchase } from './purchase.ts'
import { REGISTRATION } from './quote.ts'
import type { ServiceRequest } from './service-request.ts'

/** Who the order of a purchase can be for: the caller, or the payer if the caller's account was deleted meanwhile. */
export function possibleBuyers(
  { subject, request }: Pick<Purchase, 'subject' | 'request'>,
  payer: string | null,
): Buyer[] {
  if (subject === REGISTRATION || payer === null) return []
  const { buyer } = request as unknown as ServiceRequest
  return [buyer ?? `wallet:${payer}`, `wallet:${payer}`]
}

/** Most x402 routes do not accept these fields. */
const NO_EXTRAS = { referenceUrls: [], referenceImages: [], isPrivate: false } as const

/** Places the order or registers the agent, in the transaction that claims the transfer. Returns the id of the result. */
export async function fulfil(
  ctx: Needs<'clock' | 'ids' | 'chains' | 'vault'>,
  tx: Tx,
  purchase: Pick<Purchase, 'id' | 'subject' | 'network' | 'request' | 'due' | 'binding'>,
  seen: IncomingTransfer,
  /** Of an order whose payer is not proven; null otherwise. */
  payoutWaitMs: number | null = null,
): Promise<string> {
  const { subject, network, request, due, binding } = purchase
  if (subject === REGISTRATION) return registerPaidAgent(ctx, tx, purchase, seen)
  const listingId = /^service:(svc_.+)$/.exec(subject)?.[1] as ListingId | undefined
  assert(listingId !== undefined, `${subject} can be bought`)
  assert(
    (binding === 'none') === (payoutWaitMs !== null),
    `${subject} has a wait exactly while it is unbound`,
  )
  // It can have been deactivated since the payment. The order is placed all the same, and refunded when it is not delivered.
  const listing = await findListing(tx, listingId)
  assert(listing !== undefined, `${listingId} exists`)
  const wanted = request as unknown as ServiceRequest
  const order = await placePaidOrder(ctx, tx, {
    ...NO_EXTRAS,
    ...wanted,
    terms: termsOf(listing),
    emitPlaced: emitOrderCreated,
    paymentMethod: 'x402',
    payoutWaitMs,
    network,
    transfer: seen,
    due,
  })
  return order.id
}
