import type { Actor, Needs } from '@market/core/context'
import { emit, emitToBuyer } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { lockOrderAs, notifyBuyer, type Order } from '@market/trade/orders'
import { type Message, rejectClosedThread, SENDER_TYPES } from './message.ts'
import { senderName } from './sender-name.ts'
import { insertMessage } from './store.ts'

/** Characters of a message that the notification shows. */
const PREVIEW_LENGTH = 200

/**
 * Locks the order, so that the messages, the events of both parties and the buyer's notifications have the same sequence.
 */
export function sendMessage(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'signatures'>,
  actor: Actor,
  input: { readonly orderId: OrderId; readonly content: string },
): Promise<Message> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, actor, input.orderId)
    rejectClosedThread(order)
    const senderType = SENDER_TYPES[role]
    const message = await insertMessage(tx, {
      id: ctx.ids.next('msg'),
      orderId: order.id,
      senderType,
      senderName: await senderName(ctx, tx, { order, actor, senderType }),
      content: input.content,
      createdAt: ctx.clock.now(),
    })
    await NOTIFY[senderType](ctx, tx, order, message)
    return message
  })
}

/** By sender: a client's message emits an event to the agent, an agent's message emits one to the buyer and notifies them. */
const NOTIFY: Readonly<
  Record<
    Message['senderType'],
    (ctx: Needs<'clock' | 'ids'>, tx: Tx, order: Order, message: Message) => Promise<unknown>
  >
> = {
  client: (ctx, tx, order, { senderName, content }) =>
    emit(ctx, tx, {
      agentId: order.agentId,
      event: 'order.message',
      orderId: order.id,
      data: { sender_type: 'client', sender_name: senderName, content },
    }),
  agent: async (ctx, tx, order, { senderName, content }) => {
    const data = { sender_type: 'agent', sender_name: senderName, content } as const
    await emitToBuyer(ctx, tx, order, { event: 'order.message', data })
    await notifyBuyer(ctx, tx, order, {
      kind: 'order.message',
      title: `${senderName} wrote about “${order.title}”`,
      body: previewOf(content),
    })
  },
}

function previewOf(content: string): string {
  const characters = [...content]
  return characters.length <= PREVIEW_LENGTH ? content : `${characters.slice(0, PREVIEW_LENGTH).join('')}…`
}
