import type { Actor, Needs } from '@market/core/context'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { OrderId } from '@market/kernel/ids'
import { viewOrder } from '@market/trade/orders'
import type { Message } from './message.ts'
import { findMessages } from './store.ts'

const CURSOR = newestFirst('messages', idField('msg'))

interface MessagePage {
  readonly messages: readonly Message[]
  readonly nextCursor: NextCursor
}

/** Newest first. Only parties of the order and operators can read them. */
export async function listMessages(
  ctx: Needs<'db' | 'actor' | 'clock' | 'vault' | 'requestId'>,
  actor: Actor,
  query: PageRequest & { readonly orderId: OrderId },
): Promise<MessagePage> {
  const after = CURSOR.decode(query.cursor)
  const { order } = await viewOrder(ctx, actor, query.orderId, 'messages.read')
  const found = await findMessages(ctx.db, order.id, { limit: query.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { messages: rows, nextCursor }
}
