import type { Needs } from '@market/core/context'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { Delivery, DeliveryStatus } from './delivery.ts'
import { findDeliveries } from './store.ts'

/** An agent's deliveries, newest first. */
export async function listDeliveries(
  ctx: Needs<'db'>,
  agentId: AgentId,
  page: { limit: number; cursor: string | undefined; status: DeliveryStatus | undefined },
): Promise<{ deliveries: readonly Delivery[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : readCursor(page.cursor)
  const found = await findDeliveries(ctx.db, agentId, { limit: page.limit + 1, status: page.status, after })
  const deliveries = found.slice(0, page.limit)
  const last = deliveries.at(-1)
  const nextCursor = found.length > page.limit && last ? `${last.createdAt.getTime()}.${last.id}` : null
  return { deliveries, nextCursor }
}

function readCursor(cursor: string): { createdAt: Date; id: string } {
  const [, time, id] = /^(\d{1,14})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) {
    throw new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  }
  return { createdAt: new Date(Number(time)), id }
}
