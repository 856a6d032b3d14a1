import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import type { Buyer, Delivery, Order } from './order.ts'
import { changing, fromRow } from './row.ts'
import { assertStep, type Status, type Step } from './states.ts'

export const orderNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Order ${JSON.stringify(id)} does not exist.`, { code: 'order_not_found' })

export async function findOrder(db: Db | Tx, id: OrderId): Promise<Order> {
  const order = await findOrderIfAny(db, id)
  if (order === undefined) throw orderNotFound(id)
  return order
}

export async function findOrderIfAny(db: Db | Tx, id: string): Promise<Order | undefined> {
  const row = await db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Locks the row until the transaction ends, so that actions on one order run one after another. */
export async function lockOrder(tx: Tx, id: OrderId): Promise<Order> {
  const row = await tx.selectFrom('orders').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  if (row === undefined) throw orderNotFound(id)
  return fromRow(row)
}

export async function insertOrder(tx: Tx, order: Order): Promise<void> {
  await tx
    .insertInto('orders')
    .values({
      id: order.id,
      listing_id: order.listingId,
      agent_id: order.agentId,
      buyer: order.buyer,
      title: order.title,
      brief: order.brief,
      reference_urls: [...order.referenceUrls],
      reference_images: [...order.referenceImages],
      requirement_answers: JSON.stringify(order.requirementAnswers),
      price_type: order.priceType,
      turnaround_hours: order.turnaroundHours,
      max_revisions: order.maxRevisions,
      is_private: order.isPrivate,
      payment_method: order.paymentMethod,
      for_principal: order.forPrincipal,
      created_at: order.createdAt,
      ...changing(order),
    })
    .execute()
}

/** Saves the order and the step that led to it, in one statement. The step must be one that `states.ts` allows. */
export async function saveOrder<S extends Status>(
  tx: Tx,
  before: Order,
  after: Order<S>,
  step: Step,
): Promise<Order<S>> {
  assertStep(before.status, after.status, step)
  const { action, actor, at } = step
  const update = tx
    .updateTable('orders')
    .set(changing({ ...after, updatedAt: at } as Order))
    .where('id', '=', after.id)
  await sql`
    with saved as (${update})
    insert into order_steps (order_id, n, action, from_status, to_status, actor, at)
    select ${after.id}, coalesce(max(n), 0) + 1, ${action}, ${before.status}, ${after.status}, ${actor}, ${at}
    from order_steps where order_id = ${after.id}`.execute(tx)
  return { ...after, updatedAt: at }
}

/** Saves the pending transfer of an order. Its status does not change, so there is no step. */
export async function savePending(tx: Tx, order: Order<'accepted' | 'cancelled'>, at: Date): Promise<void> {
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

/** Orders whose transition is due, the oldest first. */
export async function findDue(
  db: Db,
  now: Date,
  { limit, after }: { limit: number; after: Due | undefined },
): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select id, due_at as "dueAt" from orders
    where due_at <= ${now}
      and ${after === undefined ? sql`true` : sql`(due_at, id) > (${after.dueAt}::timestamptz, ${after.id})`}
    order by due_at, id limit ${limit}`.execute(db)
  return rows
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
    .where('payment_method', 'is', null)
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

export async function insertDelivery(tx: Tx, orderId: OrderId, delivery: Omit<Delivery, 'n'>): Promise<void> {
  await sql`
    insert into order_deliveries (order_id, n, note, items, at)
    select ${orderId}, coalesce(max(n), 0) + 1, ${delivery.note}, ${JSON.stringify(delivery.items)}, ${delivery.at}
    from order_deliveries where order_id = ${orderId}`.execute(tx)
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
  const rows = await db
    .selectFrom('orders')
    .selectAll()
    .where('agent_id', '=', filter.agentId)
    .$if(filter.statuses.length > 0, (query) => query.where('status', 'in', [...filter.statuses]))
    .$if(filter.listingId !== undefined, (query) => query.where('listing_id', '=', filter.listingId ?? ''))
    .$if(filter.since !== undefined, (query) => query.where('created_at', '>=', filter.since ?? new Date(0)))
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}

/** How many orders the wallets have placed. */
export async function countOrdersOf(tx: Tx, wallets: readonly string[]): Promise<number> {
  if (wallets.length === 0) return 0
  const { count } = await tx
    .selectFrom('orders')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where(
      'buyer',
      'in',
      wallets.map((wallet) => `wallet:${wallet}`),
    )
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Paid orders of an agent that have not ended, grouped by what their fee depends on. */
export async function findInEscrow(tx: Tx, agentId: AgentId): Promise<InEscrow[]> {
  const { rows } = await sql<InEscrow>`
    select payment_network as network, price_micros as price, payment_method as "paymentMethod",
      for_principal as "forPrincipal", count(*)::integer as orders
    from orders where agent_id = ${agentId} and status = any(${IN_ESCROW})
    group by payment_network, price_micros, payment_method, for_principal`.execute(tx)
  return rows
}

interface InEscrow extends Pick<Order, 'paymentMethod' | 'forPrincipal'> {
  readonly network: Network
  readonly price: Usdc
  readonly orders: number
}

/** Paid, and neither completed nor cancelled. */
const IN_ESCROW: readonly Status[] = ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed']

/** Whether the buyer has another completed order of the same listing. */
export async function hasOtherCompleted(tx: Tx, { id, listingId, buyer }: Order): Promise<boolean> {
  const other = await tx
    .selectFrom('orders')
    .select('id')
    .where('listing_id', '=', listingId)
    .where('buyer', '=', buyer)
    .where('status', '=', 'completed')
    .where('id', '<>', id)
    .executeTakeFirst()
  return other !== undefined
}

/** More of the newest completed orders are not read: the query stays cheap for a seller with many orders of one buyer. */
const MOST_READ = 200

/** How many different payers the agent's newest completed orders have. An unproven payer counts when nobody can contest. */
export async function countPayers(db: Db | Tx, agentId: AgentId, now: Date): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(distinct payer) as count from (
      select coalesce(client_wallet, buyer) as payer from orders
      where agent_id = ${agentId} and status = 'completed' and outcome = 'released' and contested_at is null
        and (payer_proven or payout_waits_until <= ${now})
      order by created_at desc, id desc limit ${MOST_READ}
    ) as completed`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}

/** A listing with its distinct buyers and their orders. */
export interface Bought {
  readonly id: ListingId
  readonly buyers: bigint
  readonly orders: bigint
}

/** Only the newest paid orders are counted, which bounds the work. */
const SAMPLE = 20_000

/** What was bought since a time, ranked by distinct buyers, so that one buyer with a hundred orders counts once. */
export async function findMostBought(db: Db, since: Date, limit: number): Promise<Bought[]> {
  const { rows } = await sql<Bought>`
    with recent as materialized (
      select listing_id, buyer from orders
      where paid_at is not null and status <> 'cancelled' and paid_at >= ${since}
      order by paid_at desc limit ${SAMPLE}
    ), bought as (
      select listing_id, count(*) as orders from recent group by listing_id, buyer
    )
    select listing_id as id, count(*) as buyers, sum(orders)::bigint as orders from bought group by listing_id
    order by buyers desc, orders desc, id desc limit ${limit}`.execute(db)
  return rows
}
