import type { Needs } from '@market/core/context'
import { maintainPartitions } from '@market/core/events'
import { DAY, earlier } from '@market/kernel/clock'
import { type NextCursor, newestFirst, type PageRequest, textField } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { COUNT_LIMIT } from '@market/kernel/waiting'
import { type DroppedDeliveries, findDeliveries, findDropped } from './store.ts'
import type { DeliveryStatus, WebhookDelivery } from './webhook-delivery.ts'

const RETENTION_MS = 90 * DAY

const CURSOR = newestFirst('deliveries', textField(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/))

/** An agent's webhook deliveries, newest first. */
export async function listWebhookDeliveries(
  ctx: Needs<'db'>,
  agentId: AgentId,
  page: PageRequest & { readonly status: DeliveryStatus | undefined },
): Promise<{ deliveries: readonly WebhookDelivery[]; nextCursor: NextCursor }> {
  const after = CURSOR.decode(page.cursor)
  const found = await findDeliveries(ctx.db, agentId, { limit: page.limit + 1, status: page.status, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, page.limit)
  return { deliveries: rows, nextCursor }
}

/** Deliveries that were dropped in the last 24 hours, by agent. The newest are counted, up to `COUNT_LIMIT`. */
export const countDropped = (ctx: Needs<'db' | 'clock'>): Promise<DroppedDeliveries[]> =>
  findDropped(ctx.db, earlier(ctx.clock.now(), DAY), COUNT_LIMIT)

export const maintainDeliveryPartitions = (ctx: Needs<'db' | 'clock'>): Promise<void> =>
  maintainPartitions(ctx, 'deliveries', earlier(ctx.clock.now(), RETENTION_MS))
