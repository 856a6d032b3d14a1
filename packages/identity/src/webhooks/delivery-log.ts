import type { Needs } from '@market/core/context'
import { maintainPartitions } from '@market/core/events'
import { ApiError } from '@market/kernel/api-error'
import { DAY, earlier } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { findDeliveries } from './store.ts'
import type { DeliveryStatus, WebhookDelivery } from './webhook-delivery.ts'

const RETENTION_MS = 90 * DAY

/** An agent's webhook deliveries, newest first. */
export async function listWebhookDeliveries(
  ctx: Needs<'db'>,
  agentId: AgentId,
  page: { limit: number; cursor: string | undefined; status: DeliveryStatus | undefined },
): Promise<{ deliveries: readonly WebhookDelivery[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : parseCursor(page.cursor)
  const found = await findDeliveries(ctx.db, agentId, { limit: page.limit + 1, status: page.status, after })
  const deliveries = found.slice(0, page.limit)
  const last = deliveries.at(-1)
  const nextCursor = found.length > page.limit && last ? `${last.createdAt.getTime()}.${last.id}` : null
  return { deliveries, nextCursor }
}

function parseCursor(cursor: string): { createdAt: Date; id: string } {
  const [, time, id] = /^(\d{1,14})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined) {
    throw new ApiError('invalid', 'cursor is invalid. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the previous page' }],
    })
  }
  return { createdAt: new Date(Number(time)), id }
}

export const maintainDeliveryPartitions = (ctx: Needs<'db' | 'clock'>): Promise<void> =>
  maintainPartitions(ctx, 'deliveries', earlier(ctx.clock.now(), RETENTION_MS))
