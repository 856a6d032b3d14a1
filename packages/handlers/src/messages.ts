import type { OrderId } from '@market/kernel/ids'
import { listMessages, type Message, sendMessage } from '@market/work/messages'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'

const presentMessage = (message: Message) => ({
  id: message.id,
  order_id: message.orderId,
  sender_type: message.senderType,
  sender_name: message.senderName,
  content: message.content,
  created_at: message.createdAt.toISOString(),
})

export const messageHandlers = {
  sendMessage: handler('sendMessage', {
    run: async (ctx, input) =>
      sendMessage(ctx, await loadActor(ctx), { orderId: input.order_id as OrderId, content: input.content }),
    present: (message) => ({ data: presentMessage(message) }),
  }),

  listMessages: handler('listMessages', {
    run: async (ctx, input) =>
      listMessages(ctx, await loadActor(ctx), {
        orderId: input.order_id as OrderId,
        limit: input.limit,
        cursor: input.cursor,
      }),
    present: ({ messages, nextCursor }) => ({ data: messages.map(presentMessage), next_cursor: nextCursor }),
  }),
}
