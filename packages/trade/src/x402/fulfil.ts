import type { Needs } from '@market/core/context'
import type { SeenTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { ListingId } from '@market/kernel/ids'
import { placePaid } from '../orders/index.ts'
import { enrolPaid } from './enrol-paid.ts'
import type { Hire } from './hire.ts'
import type { OrderExtras } from './order-extras.ts'
import { REGISTRATION } from './quote.ts'

/** What a buyer of a service said; written down with the payment. */
export interface ServiceRequest extends Partial<OrderExtras> {
  readonly brief: string
  readonly requirementAnswers: Readonly<Record<string, unknown>>
}

/** Does what was paid for, in the transaction that takes the payment; tells the id of what came of it. */
export async function fulfil(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  hire: Pick<Hire, 'id' | 'subject' | 'network' | 'request' | 'due'>,
  seen: SeenTransfer,
): Promise<string> {
  const { subject, network, request, due } = hire
  if (subject === REGISTRATION) return enrolPaid(ctx, tx, hire, seen)
  const listingId = /^service:(svc_.+)$/.exec(subject)?.[1] as ListingId | undefined
  assert(listingId !== undefined, `${subject} can be bought`)
  const wanted = request as unknown as ServiceRequest
  const order = await placePaid(ctx, tx, { ...wanted, listingId, network, seen, due })
  return order.id
}
