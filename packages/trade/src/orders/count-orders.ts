import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId, ListingId } from '@market/kernel/ids'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { COUNT_LIMIT } from '@market/kernel/waiting'
import type { NetworkAmount } from '@market/money/payouts'
import { sql } from 'kysely'
import type { Order } from './order.ts'
import { policyOf } from './policy.ts'
import type { Status } from './states.ts'
import { earnedPart } from './workspace.ts'

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

/**
 * The agent's part of its paid orders that have not ended, as their release would give it: the whole price while a workspace is
 * open. Orders with the same part and kind of payment have the same fee.
 */
export async function sumInEscrow(tx: Tx, agentId: AgentId): Promise<NetworkAmount[]> {
  const { rows } = await sql<InEscrow>`
    select payment_network as network, price_micros as price, payment_method as "paymentMethod",
      for_principal as "forPrincipal", ended.used as "quotaUsed", ended.failed as "quotaFailed", count(*)::integer as orders
    from orders, lateral (
      select case when status = 'in_progress' then 0 else quota_used end as used,
        case when status = 'in_progress' then 0 else quota_failed end as failed
    ) as ended
    where agent_id = ${agentId} and status = any(${IN_ESCROW})
    group by payment_network, price_micros, payment_method, for_principal, ended.used, ended.failed`.execute(
    tx,
  )
  return rows.map(({ network, orders, ...one }) => {
    // Of a workspace that has ended nothing is pending.
    // fix: escrow-by-count
    const part = earnedPart({ ...one, quotaPending: 0 })
    return { network, amount: usdc(policyOf(one).splitFee(part).agent * BigInt(orders)) }
  })
}

interface InEscrow extends Pick<Order, 'paymentMethod' | 'forPrincipal' | 'quotaUsed' | 'quotaFailed'> {
  readonly network: Network
  readonly price: Usdc
  readonly orders: number
}

export interface Dispute extends Pick<Order, 'id' | 'updatedAt'> {
  readonly network: Network
  readonly price: Usdc
}

/** Disputed orders without what their parties wrote, the longest unchanged first, up to `COUNT_LIMIT`. */
export async function findDisputes({ db }: Needs<'db'>): Promise<Dispute[]> {
  const { rows } = await sql<Dispute>`
    select id, payment_network as network, price_micros as price, updated_at as "updatedAt"
    from orders where status = 'disputed' order by updated_at, id limit ${COUNT_LIMIT}`.execute(db)
  return rows
}

/** Paid, and neither completed nor cancelled. */
const IN_ESCROW: readonly Status[] = ['paid', 'in_progress', 'delivered', 'revision_requested', 'disputed']

/** Whether the buyer has another completed order of the same listing. */
export async function hasOtherCompleted(
  tx: Tx,
  listingId: ListingId,
  { id, buyer }: Order,
): Promise<boolean> {
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

/** The agent's part is what `earnedPart` gives. */
// fix: settled-payers-count
const IS_EARNED = sql<boolean>`(outcome = 'released'
  or agent_part_micros = price_micros * (quota_used - quota_pending) / nullif(quota_used + quota_failed, 0))`

/** More of the newest completed orders are not read: the query stays cheap for a seller with many orders of one buyer. */
const MOST_READ = 200

/**
 * How many different payers the agent's newest completed orders have: released, or workspaces that were settled by count, and not
 * those in which an arbiter decided for the payer in part. An unproven payer counts when nobody can contest.
 */
export async function countPayers(db: Db | Tx, agentId: AgentId, now: Date): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(distinct payer) as count from (
      select coalesce(client_wallet, buyer) as payer from orders
      where agent_id = ${agentId} and status = 'completed' and ${IS_EARNED} and contested_at is null
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
      where paid_at is not null and status <> 'cancelled' and paid_at >= ${since} and listing_id is not null
      order by paid_at desc limit ${SAMPLE}
    ), bought as (
      select listing_id, count(*) as orders from recent group by listing_id, buyer
    )
    select listing_id as id, count(*) as buyers, sum(orders)::bigint as orders from bought group by listing_id
    order by buyers desc, orders desc, id desc limit ${limit}`.execute(db)
  return rows
}

/** In escrow or completed; nobody was paid for a cancelled order. */
const PAID: readonly Status[] = [...IN_ESCROW, 'completed']

export interface OrderEnd {
  readonly id: string
  readonly end: 'paid' | 'refunded' | 'unpaid'
  readonly at: Date
}

/** Which of the orders ended, and how. */
export async function findOrderEnds(db: Db, ids: readonly string[]): Promise<OrderEnd[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('orders')
    .select(['id', 'status', 'paid_at', 'closed_at', 'updated_at'])
    .where('id', 'in', [...ids])
    .where('status', 'in', ['completed', 'cancelled'])
    .execute()
  return rows.map(({ id, status, paid_at: paidAt, closed_at: closedAt, updated_at: updatedAt }) => ({
    id,
    end: status === 'completed' ? 'paid' : paidAt === null ? 'unpaid' : 'refunded',
    at: closedAt ?? updatedAt,
  }))
}

/** Whether the caller has bought or sold something that is paid: in escrow or completed. */
export async function hasPaidOrder(db: Db, caller: string): Promise<boolean> {
  const paid = db.selectFrom('orders').select('id').where('status', 'in', PAID).limit(1)
  const bought = await paid.where('buyer', '=', caller).executeTakeFirst()
  if (bought !== undefined) return true
  if (!caller.startsWith('agent:')) return false
  return (await paid.where('agent_id', '=', caller.slice('agent:'.length)).executeTakeFirst()) !== undefined
}
