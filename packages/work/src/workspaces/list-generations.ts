import type { Actor, Needs } from '@market/core/context'
import type { Db } from '@market/database/transact'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { OrderId } from '@market/kernel/ids'
import { type Order, viewOrder } from '@market/trade/orders'
import { getPurchasedOrder } from '@market/trade/x402'
import type { Generation } from './generation.ts'
import { findGenerations, GENERATIONS_PER_ORDER } from './store.ts'

const CURSOR = newestFirst('deliverables', idField('dlv'))

interface GenerationPage {
  readonly order: Order
  readonly generations: readonly Generation[]
  readonly nextCursor: NextCursor
}

/** Newest first. Only parties of the order and operators can read them. */
export async function listGenerations(
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  actor: Actor,
  query: PageRequest & { readonly orderId: OrderId },
): Promise<GenerationPage> {
  const { order } = await viewOrder(ctx, actor, query.orderId)
  return pageOf(ctx.db, order, query)
}

/** A buyer by x402 has no account; the access token of the order shows who it is. */
export async function listGenerationsWithToken(
  ctx: Needs<'db' | 'clock' | 'vault'>,
  token: string,
  query: PageRequest & { readonly orderId: OrderId },
): Promise<GenerationPage> {
  const { order } = await getPurchasedOrder(ctx, query.orderId, token)
  return pageOf(ctx.db, order, query)
}

async function pageOf(db: Db, order: Order, { limit, cursor }: PageRequest): Promise<GenerationPage> {
  const after = CURSOR.decode(cursor)
  const found = await findGenerations(db, order.id, { limit: limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, limit)
  return { order, generations: rows, nextCursor }
}

export const newestGenerations = async (db: Db, { id, quotaTotal }: Order): Promise<readonly Generation[]> =>
  quotaTotal === 0 ? [] : findGenerations(db, id, { limit: GENERATIONS_PER_ORDER, after: undefined })
