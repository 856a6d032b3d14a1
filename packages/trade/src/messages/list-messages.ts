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

/** Newest first, for the parties and for operators: what is read on with the cursor is older. */
export async function listMessages(
  ctx: Needs<'db'>,
  reader: Reader,
  asked: { readonly orderId: OrderId; readonly limit: number; readonly cursor?: string | undefined },
): Promise<MessagePage> {
  const after = readCursor(asked.cursor, 'msg')
  const { order } = await viewOrder(ctx.db, reader, asked.orderId)
  const found = await findMessages(ctx.db, order.id, { limit: asked.limit + 1, after })
  const { rows, nextCursor } = pageOf(found, asked.limit)
  return { messages: rows, nextCursor }
}
