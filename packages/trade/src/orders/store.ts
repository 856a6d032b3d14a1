import { newBuyerEvent } from '@market/core/events'
import { insertChanges } from '@market/core/statistics'
import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, BountyId, ListingId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { findWaitingIntent } from '@market/money/payments'
import { sql } from 'kysely'
import { removeReview } from '../reviews/index.ts'
import { buyerEventOf } from './buyer-events.ts'
import type { Buyer, Delivery, Order, Payment } from './order.ts'
import { changing, fromRow, newRow, pendingPayment, selectOrders } from './row.ts'
import { assertStep, type Status, type Step } from './states.ts'
import { alsoWritten, statisticsOf } from './statistics.ts'
import type { StoredStep } from './view/timeline.ts'

export const orderNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Order ${JSON.stringify(id)} does not exist.`, { code: 'order_not_found' })

export async function findOrder(db: Db | Tx, id: OrderId): Promise<Order> {
  const order = await findOrderIfAny(db, id)
  if (order === undefined) throw orderNotFound(id)
  return order
}

export async function findOrderIfAny(db: Db | Tx, id: string): Promise<Order | undefined> {
  const row = await selectOrders(db).where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Locks the row until the transaction ends, so that actions on one order run one after another. */
export async function lockOrder(tx: Tx, id: OrderId): Promise<Order> {
  const row = await tx.selectFrom('orders').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  if (row === undefined) throw orderNotFound(id)
  return fromRow({ ...row, pending: await findPending(tx, row) })
}

/** Read after the row is locked: the statement that waited for the lock shows intents as they were before. */
async function findPending(tx: Tx, { id, status }: { id: string; status: string }): Promise<Payment | null> {
  if (status !== 'accepted' && status !== 'cancelled') return null
  const intent = await findWaitingIntent(tx, { kind: 'order', id })
  return intent === undefined ? null : { network: intent.network, reference: intent.reference }
}

export async function insertOrder(tx: Tx, order: Order): Promise<void> {
  await tx
    .with('counted', () => sql<object>`(${insertChanges(statisticsOf(undefined, order))})`)
    .insertInto('orders')
    .values(newRow(order))
    .execute()
}

/**
 * Saves the order, the step that led to it, what it changes in the figures and the buyer's event, in one statement. The
 * step must be one that `states.ts` allows. The buyer's counter is then locked; see `lockBuyerEvents`. An order that is not
 * completed any more loses its review.
 */
export async function saveOrder<S extends Status>(
  tx: Tx,
  before: Order,
  after: Order<S>,
  step: Step,
): Promise<Order<S>> {
  assertStep(before, after.status, step)
  const { action, role, actor, at } = step
  const update = tx
    .updateTable('orders')
    .set(changing({ ...after, updatedAt: at } as Order))
    .where('id', '=', after.id)
  const event = buyerEventOf(action, after as Order, before.status)
  const emitted = event === undefined ? sql`` : sql`, ${newBuyerEvent(after, event, at)}`
  await sql`
    with saved as (${update})${alsoWritten(before, after as Order, at)}${emitted}
    insert into order_steps (order_id, n, action, from_status, to_status, role, actor, at)
    select ${after.id}, coalesce(max(n), 0) + 1, ${action}, ${before.status}, ${after.status}, ${role}, ${actor}, ${at}
    from order_steps where order_id = ${after.id}`.execute(tx)
  // fix: reversal-removes-review
  if (before.status === 'completed' && after.status !== 'completed') await removeReview(tx, after.id)
  return { ...after, updatedAt: at }
}

/** Saves other fields of an order than its status, so there is no step. */
export async function saveFields(tx: Tx, order: Order, at: Date): Promise<void> {
  await tx
    .updateTable('orders')
    .set(changing({ ...order, updatedAt: at }))
    .where('id', '=', order.id)
    .execute()
}

export interface Due {
  readonly id: OrderId
  readonly dueAt: Date
}

/**
 * Locks the order that is due first after a position. One that another transaction has locked is left to it, so that several
 * workers apply different transitions.
 */
export async function lockNextDue(
  tx: Tx,
  now: Date,
  after: Due | undefined,
): Promise<{ readonly order: Order; readonly due: Due } | undefined> {
  // fix: due-skips-locked
  const row = await tx
    .selectFrom('orders')
    .selectAll()
    .where('due_at', '<=', now)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(due_at, id) > (${after?.dueAt}::timestamptz, ${after?.id})`),
    )
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const order = fromRow({ ...row, pending: await findPending(tx, row) })
  return { order, due: { id: order.id, dueAt: row.due_at ?? now } }
}

/** Marks subscriptions that end soon, each once, and returns them. Rows that another worker has locked are left to it. */
export async function markRenewalsOffered(
  tx: Tx,
  { now, endsBefore, limit }: { now: Date; endsBefore: Date; limit: number },
): Promise<Order[]> {
  const rows = await tx
    .updateTable('orders')
    .set({ renewal_offered_at: now })
    .where('id', 'in', (select) =>
      select
        .selectFrom('orders')
        .select('id')
        .where('status', '=', 'in_progress')
        .where('workspace_ends_at', '<=', endsBefore)
        .where('renewal_offered_at', 'is', null)
        .where('price_type', 'in', ['weekly', 'monthly'])
        .orderBy('workspace_ends_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .returning(pendingPayment.as('pending'))
    .execute()
  return rows.map(fromRow)
}

const UNPAID: readonly Status[] = ['quoted', 'accepted']

/** Whether the wallet has an unpaid order that this amount would pay: its transfer can be for that order. */
export async function owesPayment(db: Db | Tx, wallet: string, amount: Usdc): Promise<boolean> {
  const row = await db
    .selectFrom('orders')
    .select('id')
    .where('client_wallet', '=', wallet)
    .where('status', 'in', [...UNPAID])
    .where('price_micros', '<=', amount)
    // An x402 order comes with its payment; after a reorganisation it waits for the same transfer.
    .where('payment_method', 'is distinct from', 'x402')
    .executeTakeFirst()
  return row !== undefined
}

/** Whether one of the buyers bought, or one of the agents sells, an order that is not closed. */
export async function hasOpenOrders(
  tx: Tx,
  buyers: readonly Buyer[],
  agentIds: readonly AgentId[],
): Promise<boolean> {
  const open = tx.selectFrom('orders').select('id').where('closed_at', 'is', null).limit(1)
  if ((await open.where('buyer', 'in', [...buyers]).executeTakeFirst()) !== undefined) return true
  if (agentIds.length === 0) return false
  return (await open.where('agent_id', 'in', [...agentIds]).executeTakeFirst()) !== undefined
}

/** Removes what the buyers wrote into their orders, and returns their ids. */
export async function eraseOrders(tx: Tx, buyers: readonly Buyer[]): Promise<OrderId[]> {
  const rows = await tx
    .updateTable('orders')
    .set({
      // The title of a bounty was written by its poster, that of a listing by its agent.
      title: sql<string>`case when bounty_id is null then title else '' end`,
      brief: '',
      reference_urls: [],
      reference_images: [],
      requirement_answers: JSON.stringify({}),
      complaint: null,
    })
    .where('buyer', 'in', [...buyers])
    .returning('id')
    .execute()
  return rows.map((row) => row.id as OrderId)
}

/** Returns the number of the delivery. The caller must have locked the order. */
export async function insertDelivery(
  tx: Tx,
  orderId: OrderId,
  delivery: Omit<Delivery, 'n'>,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    insert into order_deliveries (order_id, n, note, items, at)
    select ${orderId}, coalesce(max(n), 0) + 1, ${delivery.note}, ${JSON.stringify(delivery.items)}, ${delivery.at}
    from order_deliveries where order_id = ${orderId} returning n`.execute(tx)
  return rows[0]?.n ?? 0
}

export async function findDeliveries(db: Db | Tx, orderId: OrderId): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('order_deliveries')
    .selectAll()
    .where('order_id', '=', orderId)
    .orderBy('n')
    .execute()
  return rows.map(({ n, note, items, at }) => ({ n, note, items: items as Delivery['items'], at }))
}

/** Whether the payment of the order was contested or reversed after this time, so that the agent could not act for a while. */
export async function wasStopped(tx: Tx, orderId: OrderId, since: Date): Promise<boolean> {
  // fix: stopped-is-not-failed
  const rows = await tx
    .selectFrom('order_steps')
    .select('n')
    .where('order_id', '=', orderId)
    .where('action', 'in', ['contest_payment', 'undo'])
    .where('at', '>=', since)
    .limit(1)
    .execute()
  return rows.length > 0
}

/** More steps than any order needs; a history can repeat some of them without end. */
const SHOWN_STEPS = 100

/** The newest steps of an order, oldest first. */
export async function findSteps(
  db: Db,
  orderId: OrderId,
): Promise<{ readonly steps: StoredStep[]; readonly isWhole: boolean }> {
  const rows = await db
    .selectFrom('order_steps')
    .select(['n', 'action', 'from_status', 'to_status', 'role', 'at'])
    .where('order_id', '=', orderId)
    .orderBy('n', 'desc')
    .limit(SHOWN_STEPS)
    .execute()
  const steps = rows.toReversed().map(
    (row): StoredStep => ({
      action: row.action as StoredStep['action'],
      from: row.from_status as Status,
      to: row.to_status as Status,
      role: row.role as StoredStep['role'],
      at: row.at,
    }),
  )
  return { steps, isWhole: rows.length < SHOWN_STEPS }
}

/** The orders of bounties, by the bounty's id. */
export async function findOrdersOfBounties(
  db: Db | Tx,
  bountyIds: readonly BountyId[],
): Promise<ReadonlyMap<BountyId, OrderId>> {
  if (bountyIds.length === 0) return new Map()
  const ofBounties = db.selectFrom('orders').select(['bounty_id', 'id']).where('bounty_id', 'in', bountyIds)
  const rows = await ofBounties.execute()
  return new Map(rows.map((row) => [row.bounty_id as BountyId, row.id as OrderId]))
}

export async function findOrdersOfAgent(
  db: Db,
  filter: {
    readonly agentId: AgentId
    readonly statuses: readonly Status[]
    readonly listingId?: ListingId | undefined
    readonly since?: Date | undefined
  },
  page: NewestFirstPage,
): Promise<Order[]> {
  const rows = await selectOrders(db)
    .where('agent_id', '=', filter.agentId)
    .$if(filter.statuses.length > 0, (query) => query.where('status', 'in', [...filter.statuses]))
    .$if(filter.listingId !== undefined, (query) => query.where('listing_id', '=', filter.listingId ?? ''))
    .$if(filter.since !== undefined, (query) => query.where('created_at', '>=', filter.since ?? new Date(0)))
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}
