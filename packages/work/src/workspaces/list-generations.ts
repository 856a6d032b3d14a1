import type { Actor, Needs } from '@market/core/context'
import type { Db } from '@market/database/transact'
import { idField, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { OrderId } from '@market/kernel/ids'
import { type Order, viewOrder } from '@market/trade/orders'
import type { Generation } from './generation.ts'
import { findGenerations } from './store.ts'

const CURSOR = newestFirst('deliverables', idField('dlv'))

interface GenerationPage {
  readonly order: Order
  readonly generations: readonly Generation[]
  readonly nextCursor: string | null
}

/** Newest first. Only parties of the order and operators can read them. */
export async function listGenerations(
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  actor: Actor,
  query: PageRequest & { readonly orderId: OrderId },
): Promise<GenerationPage> {
  const after = CURSOR.decode(query.cursor)
  const { order } = await viewOrder(ctx, actor, query.orderId)
  const found = await findGenerations(ctx.db, order.id, { limit: query.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { order, generations: rows, nextCursor }
}

/** How many generations an order shows with itself. */
const SHOWN = 20

export const newestGenerations = async (db: Db, { id, quotaTotal }: Order): Promise<readonly Generation[]> =>
  quotaTotal === 0 ? [] : findGenerations(db, id, { limit: SHOWN, after: undefined })
