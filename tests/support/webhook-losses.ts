import type { AgentId } from '@market/kernel/ids'
import { expect } from 'vitest'
import type { WebhookReceiver } from './webhook-receiver.ts'
import type { WebhookWorld } from './webhook-world.ts'

/** Emits events with numbered order ids, spread over the agents. */
export async function emitNumbered(
  world: WebhookWorld,
  agentIds: readonly AgentId[],
  from: number,
  to: number,
): Promise<void> {
  const width = 8
  const emitEvery = async (first: number) => {
    for (let n = first; n < to; n += width) {
      const agentId = agentIds[n % agentIds.length]
      if (agentId !== undefined)
        await world.emit(agentId, 'order.completed', { payout_failed: false }, `ord_${n}`)
    }
  }
  await Promise.all(Array.from({ length: width }, (_, n) => emitEvery(from + n)))
}

/** Every numbered event arrived; one that arrived twice did so under one delivery id; each is saved as delivered. */
export async function expectNoneLost(
  world: WebhookWorld,
  receiver: WebhookReceiver,
  count: number,
): Promise<number> {
  const ids = new Map<string, Set<string>>()
  for (const call of receiver.calls) {
    const { order_id: orderId } = JSON.parse(call.rawBody.toString()) as { order_id: string }
    ids.set(orderId, (ids.get(orderId) ?? new Set()).add(call.deliveryId))
  }
  const numbers = Array.from({ length: count }, (_, n) => `ord_${n}`)
  expect(numbers.filter((orderId) => !ids.has(orderId))).toEqual([])
  expect([...ids].filter(([, deliveryIds]) => deliveryIds.size !== 1)).toEqual([])
  const rows = await world.db.selectFrom('deliveries').select(['id', 'order_id', 'status']).execute()
  expect(rows).toHaveLength(count)
  expect(rows.filter((row) => row.status !== 'delivered' || !ids.get(row.order_id)?.has(row.id))).toEqual([])
  return receiver.calls.length - count
}
