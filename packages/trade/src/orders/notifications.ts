import type { Needs } from '@market/core/context'
import { notify, ownerRecipients, type Recipient } from '@market/core/notifications'
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
  await send(ctx, tx, order, await buyerRecipients(tx, order), notification)
}

/** Notifies the owner of the agent that delivers the order. */
export async function notifyAgentOwner(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  notification: OrderNotification,
): Promise<void> {
  await send(ctx, tx, order, ownerRecipients(await findAgentById(tx, order.agentId)), notification)
}

async function buyerRecipients(tx: Tx, { buyer }: Order): Promise<Recipient[]> {
  if (!buyer.startsWith('agent:')) return [buyer as Recipient]
  return ownerRecipients(await findAgentById(tx, buyer.slice('agent:'.length) as AgentId))
}

/** The buyer and the owner of the agent, for what operators decide about the order. */
export async function partyRecipients(tx: Tx, order: Order): Promise<Recipient[]> {
  const owners = ownerRecipients(await findAgentById(tx, order.agentId))
  return [...(await buyerRecipients(tx, order)), ...owners]
}

/**
 * Whose money a payout is: the agent's, so its owner is notified, or the buyer's. A refund without an order belongs to the
 * wallet that paid.
 */
export async function payoutRecipients(
  tx: Tx,
  { kind, subject, payee }: Pick<Payout, 'kind' | 'subject' | 'payee'>,
): Promise<Recipient[]> {
  const order = kind === 'payout' || kind === 'refund' ? await findOrderIfAny(tx, subject) : undefined
  if (order === undefined) return kind === 'refund' && payee !== null ? [`wallet:${payee}`] : []
  return kind === 'payout'
    ? ownerRecipients(await findAgentById(tx, order.agentId))
    : buyerRecipients(tx, order)
}

async function send(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { id }: Order,
  recipients: readonly Recipient[],
  notification: OrderNotification,
): Promise<void> {
  for (const recipient of recipients)
    await notify(ctx, tx, recipient, { ...notification, data: { order_id: id } })
}
