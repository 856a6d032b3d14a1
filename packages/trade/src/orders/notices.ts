import type { Needs } from '@market/core/context'
import { notify, ownerRecipient, type Recipient } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import type { Order } from './order.ts'

interface Word {
  readonly kind: string
  readonly title: string
  readonly body: string
}

/** Leaves a word for the buyer; for an agent that buys, with whoever answers for it. */
export async function tellBuyer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  word: Word,
): Promise<void> {
  const recipient = await recipientOf(tx, order)
  if (recipient !== undefined) await notify(ctx, tx, recipient, { ...word, data: { order_id: order.id } })
}

async function recipientOf(tx: Tx, { buyer }: Order): Promise<Recipient | undefined> {
  if (!buyer.startsWith('agent:')) return buyer as Recipient
  return ownerRecipient(await findAgentById(tx, buyer.slice('agent:'.length) as AgentId))
}

/** Leaves a word with whoever answers for the agent that serves the order. */
export async function tellOwner(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Order,
  word: Word,
): Promise<void> {
  const recipient = ownerRecipient(await findAgentById(tx, order.agentId))
  if (recipient !== undefined) await notify(ctx, tx, recipient, { ...word, data: { order_id: order.id } })
}
