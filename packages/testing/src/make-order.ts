import { randomBytes } from 'node:crypto'
import { type Actor, type Context, provenWallets } from '@market/core/context'
import type { Db } from '@market/database/transact'
import { HOUR, later } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import type { Listing } from '@market/offers/listings'
import { createOrder, type Status } from '@market/trade/orders'
import { walletActor } from './make-actor.ts'

/** Creates an order with the real command and sets the given state. */
export async function makeOrder(
  ctx: Context,
  listing: Listing,
  { buyer = walletActor(), status }: { buyer?: Actor; status: Status },
): Promise<{ id: OrderId; buyer: Actor }> {
  const { id } = await createOrder(ctx, buyer, {
    listingId: listing.id,
    brief: 'Review the branch from yesterday, please.',
    referenceUrls: [],
    referenceImages: [],
    requirementAnswers: {},
    isPrivate: false,
    clientWallet: provenWallets(buyer)[0]?.key ?? null,
  })
  await putOrderIn(ctx.db, id, status, ctx.clock.now())
  return { id, buyer }
}

/** Sets the fields of a state directly, for tests of what the state allows. */
export async function putOrderIn(db: Db, id: OrderId, status: Status, at: Date): Promise<void> {
  const paid = {
    payment_network: 'base-mainnet',
    payment_reference: `0x${randomBytes(32).toString('hex')}`,
    paid_at: at,
    deliver_by: later(at, 48 * HOUR),
  }
  const delivered = { ...paid, delivered_at: at }
  const complained = { ...delivered, review_left_ms: 1_000n, complaint: 'The colours are wrong.' }
  const facts = {
    pending_quote: { price_micros: null },
    quoted: {},
    accepted: { price_until: later(at, 24 * HOUR) },
    paid,
    in_progress: paid,
    delivered: { ...delivered, review_ends_at: later(at, 48 * HOUR) },
    revision_requested: complained,
    disputed: complained,
    completed: { ...delivered, closed_at: at, outcome: 'released' },
    cancelled: { closed_at: at, outcome: 'unpaid', agent_part_micros: 0n },
  } as const satisfies Record<Status, object>
  await db
    .updateTable('orders')
    .set(({ ref }) => ({
      status,
      ...facts[status],
      ...(status === 'completed' && { agent_part_micros: ref('price_micros') }),
    }))
    .where('id', '=', id)
    .execute()
}
