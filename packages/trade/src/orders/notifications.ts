import type { Needs } from '@market/core/context'
import { notify, ownerRecipient, type Recipient } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Payout } from '@market/money/payouts'
import type { Order } from './order.ts'
import { findOrderIfAny } from './store.ts'

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

/** The buyer and the owner of the agent, for what operators decide about the order. */
export async function partyRecipients(tx: Tx, order: Order): Promise<Recipient[]> {
  const owner = ownerRecipient(await findAgentById(tx, order.agentId))
  return [await buyerRecipient(tx, order), owner].filter((recipient) => recipient !== undefined)
}

/** Whose money the payout of an order is: the agent's, so its owner is notified, or the buyer's. */
export async function payoutRecipients(
  tx: Tx,
  { kind, subject }: Pick<Payout, 'kind' | 'subject'>,
): Promise<Recipient[]> {
  const order = kind === 'payout' || kind === 'refund' ? await findOrderIfAny(tx, subject) : undefined
  if (order === undefined) return []
  const recipient =
    kind === 'payout'
      ? ownerRecipient(await findAgentById(tx, order.agentId))
      : await buyerRecipient(tx, order)
  return recipient === undefined ? [] : [recipient]
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
