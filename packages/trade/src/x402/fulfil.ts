import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { ListingId } from '@market/kernel/ids'
import { type Buyer, placePaidOrder } from '../orders/index.ts'
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

/** Places the order or registers the agent, in the transaction that claims the transfer. Returns the id of the result. */
export async function fulfil(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
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
  const wanted = request as unknown as ServiceRequest
  const order = await placePaidOrder(ctx, tx, {
    ...wanted,
    listingId,
    paymentMethod: 'x402',
    payoutWaitMs,
    network,
    transfer: seen,
    due,
  })
  return order.id
}
