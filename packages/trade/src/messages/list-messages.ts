import type { Needs } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { pageOf, readCursor } from '@market/kernel/newest-first'
import { type Reader, viewOrder } from '../orders/index.ts'
import type { Message } from './message.ts'
import { findMessages } from './store.ts'

interface MessagePage {
  readonly messages: readonly Message[]
  readonly nextCursor: string | null
}

/** Newest first. Only parties of the order and operators can read them. */
export async function listMessages(
  ctx: Needs<'db'>,
  reader: Reader,
  query: { readonly orderId: OrderId; readonly limit: number; readonly cursor?: string | undefined },
): Promise<MessagePage> {
  const after = readCursor(query.cursor, 'msg')
  const { order } = await viewOrder(ctx.db, reader, query.orderId)
  const found = await findMessages(ctx.db, order.id, { limit: query.limit + 1, after })
  const { rows, nextCursor } = pageOf(found, query.limit)
  return { messages: rows, nextCursor }
}
