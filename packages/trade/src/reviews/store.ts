import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import { columns, rowReader, rowWriter } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId, ListingId, OrderId } from '@market/kernel/ids'
import type { Selectable } from 'kysely'
import type { Review } from './review.ts'

type Columns = Tables['reviews']
const NAMES = columns('reviews')

const fromRow = rowReader<Selectable<Columns>, Review>()(NAMES, {})
const rowOf = rowWriter<Columns, Review>()(NAMES, {})

/** Returns undefined when the order already has a review. The unique key also decides between concurrent inserts. */
export async function insertReview(tx: Tx, review: Review): Promise<Review | undefined> {
  const row = await tx
    .insertInto('reviews')
    .values(rowOf(review))
    .onConflict((conflict) => conflict.column('order_id').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findReviewOf(db: Db, orderId: OrderId): Promise<Review | undefined> {
  const row = await db.selectFrom('reviews').selectAll().where('order_id', '=', orderId).executeTakeFirst()
  return row && fromRow(row)
}

export async function deleteReview(tx: Tx, orderId: OrderId): Promise<Review | undefined> {
  const row = await tx.deleteFrom('reviews').where('order_id', '=', orderId).returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Removes the comments of the buyer. The ratings stay, because the averages count them. */
export async function eraseComments(tx: Tx, orderIds: readonly OrderId[]): Promise<void> {
  if (orderIds.length === 0) return
  await tx
    .updateTable('reviews')
    .set({ comment: '' })
    .where('order_id', 'in', [...orderIds])
    .execute()
}

export async function findReviews(db: Db, agentId: AgentId, page: NewestFirstPage): Promise<Review[]> {
  const rows = await db
    .selectFrom('reviews')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}

export async function findReviewsOfListing(
  db: Db,
  listingId: ListingId,
  page: NewestFirstPage,
): Promise<Review[]> {
  const rows = await db
    .selectFrom('reviews')
    .selectAll()
    .where('listing_id', '=', listingId)
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(fromRow)
}
