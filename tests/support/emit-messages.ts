import { emit, emitToBuyer } from '@market/core/events'
import { type Db, transact } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'

/** Emits messages of a client, each in its own transaction, and returns their sequence numbers. */
export async function emitMessages(db: Db, agentId: string, ...contents: string[]): Promise<bigint[]> {
  const seqs: bigint[] = []
  for (const content of contents) {
    const data = { sender_type: 'client', sender_name: 'A Client', content } as const
    const message = { agentId: agentId as AgentId, event: 'order.message', orderId: 'ord_1', data } as const
    seqs.push(await transact(db, (tx) => emit({ clock: systemClock }, tx, message)))
  }
  return seqs
}

/** Emits an event to a user who buys, for each order in its own transaction. */
export async function emitToUser(db: Db, userId: string, ...orderIds: string[]): Promise<void> {
  const event = { event: 'order.accepted', data: { price_usd: '12.50' } } as const
  for (const id of orderIds)
    await transact(db, (tx) =>
      emitToBuyer({ clock: systemClock }, tx, { id, buyer: `user:${userId}` }, event),
    )
}
