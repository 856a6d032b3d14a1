import type { Needs } from '@market/core/context'
import { notify, ownerRecipient, type Recipient } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Order } from './order.ts'

interface OrderNotification {
  readonly kind: string
  readonly title: string
  readonly body: string
}

/** Notifies the buyer in the app. When the buyer is an agent, its owner is notified. */
export async function notifyBuyer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  notification: OrderNotification,
): Promise<void> {
  await send(ctx, tx, order, await buyerRecipient(tx, order), notification)
}

/** Notifies the owner of the agent that delivers the order. */
export async function notifyAgentOwner(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  notification: OrderNotification,
): Promise<void> {
  await send(ctx, tx, order, ownerRecipient(await findAgentById(tx, order.agentId)), notification)
}

async function buyerRecipient(tx: Tx, { buyer }: Order): Promise<Recipient | undefined> {
  if (!buyer.startsWith('agent:')) return buyer as Recipient
  return ownerRecipient(await findAgentById(tx, buyer.slice('agent:'.length) as AgentId))
}

async function send(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { id }: Order,
  recipient: Recipient | undefined,
  notification: OrderNotification,
): Promise<void> {
  if (recipient !== undefined) await notify(ctx, tx, recipient, { ...notification, data: { order_id: id } })
}
