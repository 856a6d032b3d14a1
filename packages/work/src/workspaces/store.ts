import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import { type Deliverable, excerptOf } from '@market/trade/orders'
import { type Selectable, sql } from 'kysely'
import type { Generation, GenerationId } from './generation.ts'

type Row = Selectable<Tables['workspace_deliverables']>
type CompletedGeneration = Extract<Generation, { status: 'completed' }>

export async function insertGeneration(
  tx: Tx,
  generation: Extract<Generation, { status: 'pending' }>,
): Promise<void> {
  await tx
    .insertInto('workspace_deliverables')
    .values({
      id: generation.id,
      order_id: generation.orderId,
      prompt: generation.prompt,
      status: generation.status,
      deadline: generation.deadline,
      created_at: generation.createdAt,
    })
    .execute()
}

/** The caller must have locked the order. */
export async function saveEnded(
  tx: Tx,
  generation: Exclude<Generation, { status: 'pending' }>,
): Promise<void> {
  await tx
    .updateTable('workspace_deliverables')
    .set({
      status: generation.status,
      item: generation.status === 'completed' ? JSON.stringify(generation.item) : null,
      failure: generation.status === 'failed' ? generation.failure : null,
      ended_at: generation.endedAt,
    })
    .where('id', '=', generation.id)
    .execute()
}

export async function findGeneration(
  db: Db | Tx,
  orderId: OrderId,
  id: string,
): Promise<Generation | undefined> {
  const row = await db
    .selectFrom('workspace_deliverables')
    .selectAll()
    .where('id', '=', id)
    .where('order_id', '=', orderId)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Newest first. */
export async function findGenerations(
  db: Db,
  orderId: OrderId,
  page: NewestFirstPage,
): Promise<Generation[]> {
  const rows = await db
    .selectFrom('workspace_deliverables')
    .selectAll()
    .where('order_id', '=', orderId)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}

/** How many generations are shown with their order. */
export const GENERATIONS_PER_ORDER = 20

/** The newest completed generations of each order, with excerpts of their texts. */
export async function findCompletedGenerations(
  db: Db | Tx,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, CompletedGeneration[]>> {
  if (orderIds.length === 0) return new Map()
  const { rows } = await sql<Row>`
    select newest.* from unnest(${[...orderIds]}::text[]) as one (order_id) cross join lateral (
      select id, order_id, status, '' as prompt, ${excerptOf(sql`item`)} as item, failure, deadline, created_at, ended_at
      from workspace_deliverables
      where workspace_deliverables.order_id = one.order_id and status = 'completed'
      order by created_at desc, id desc limit ${GENERATIONS_PER_ORDER}
    ) as newest`.execute(db)
  const completed = rows.map(fromRow).filter((generation) => generation.status === 'completed')
  return Map.groupBy(completed, ({ orderId }) => orderId)
}

/** The order in which the generation was requested. */
export async function findOrderOfGeneration(db: Db | Tx, id: string): Promise<OrderId | undefined> {
  const row = await db
    .selectFrom('workspace_deliverables')
    .select('order_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row && (row.order_id as OrderId)
}

/** Pending generations whose deadline has passed, the oldest first. */
export async function findExpired(
  db: Db,
  now: Date,
  limit: number,
): Promise<{ id: GenerationId; orderId: OrderId }[]> {
  const rows = await db
    .selectFrom('workspace_deliverables')
    .select(['id', 'order_id'])
    .where('status', '=', 'pending')
    .where('deadline', '<=', now)
    .orderBy('deadline')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ id: row.id as GenerationId, orderId: row.order_id as OrderId }))
}

const DELETED_TEXT = '[deleted]'

/** Removes what the buyer of these orders wrote. What the agent made stays. */
export async function erasePrompts(tx: Tx, orderIds: readonly OrderId[]): Promise<void> {
  if (orderIds.length === 0) return
  await tx
    .updateTable('workspace_deliverables')
    .set({ prompt: DELETED_TEXT })
    .where('order_id', 'in', [...orderIds])
    .execute()
}

function fromRow(row: Row): Generation {
  const core = {
    id: row.id as GenerationId,
    orderId: row.order_id as OrderId,
    prompt: row.prompt,
    deadline: row.deadline,
    createdAt: row.created_at,
  }
  if (row.ended_at === null) return { ...core, status: 'pending' }
  if (row.failure !== null) return { ...core, status: 'failed', failure: row.failure, endedAt: row.ended_at }
  assert(row.item !== null, `completed generation ${row.id} has an item`)
  return { ...core, status: 'completed', item: row.item as unknown as Deliverable, endedAt: row.ended_at }
}
