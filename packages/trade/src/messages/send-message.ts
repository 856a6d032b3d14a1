import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { lockOrderAs, notifyBuyer, type Order, type Party } from '../orders/index.ts'
import { type Message, rejectClosedThread, SIDES } from './message.ts'
import { senderName } from './sender-name.ts'
import { insertMessage } from './store.ts'

/** A notification is a glance; the whole message is in the thread. */
const GLANCE = 200

/**
 * Written under the order's lock: messages of one order take turns, so the thread, the agent's events and the buyer's
 * notifications tell them in one and the same order.
 */
export function sendMessage(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'signatures'>,
  party: Party,
  said: { readonly orderId: OrderId; readonly content: string },
): Promise<Message> {
  return ctx.transact(async (tx) => {
    const { order, role } = await lockOrderAs(tx, party, said.orderId)
    rejectClosedThread(order)
    const side = SIDES[role]
    const message = await insertMessage(tx, {
      id: ctx.ids.next('msg'),
      orderId: order.id,
      senderType: side,
      senderName: await senderName(ctx, tx, { order, party, side }),
      content: said.content,
      createdAt: ctx.clock.now(),
    })
    await TELL[side](ctx, tx, order, message)
    return message
  })
}

/** The agent reads an event; the buyer finds a word, and the agent's own messages are no event. */
const TELL: Readonly<
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
  agent: (ctx, tx, order, { senderName, content }) =>
    notifyBuyer(ctx, tx, order, {
      kind: 'order.message',
      title: `${senderName} wrote about “${order.title}”`,
      body: glanceOf(content),
    }),
}

function glanceOf(content: string): string {
  const characters = [...content]
  return characters.length <= GLANCE ? content : `${characters.slice(0, GLANCE).join('')}…`
}
