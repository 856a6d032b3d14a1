import type { MarketEvent } from '@market/core/events'
import { listNotifications, markRead, type Notification } from '@market/core/notifications'
import { getAccount } from '@market/identity/accounts'
import { listWebhookDeliveries, sendTest, type WebhookDelivery } from '@market/identity/webhooks'
import { eventReaderOf, readEvents } from './event-reader.ts'
import { type HandlerContext, handler } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { requireUser } from './require-actor.ts'
import { requireOwnSeller } from './require-own-seller.ts'

export const presentEvent = (event: MarketEvent) => ({
  cursor: event.seq.toString(),
  event: event.event,
  order_id: event.orderId,
  data: event.data as Record<string, unknown>,
  created_at: event.at.toISOString(),
})

const presentDelivery = (delivery: WebhookDelivery) => ({
  delivery_id: delivery.id,
  cursor: delivery.seq === 0n ? null : delivery.seq.toString(),
  event: delivery.event,
  order_id: delivery.orderId,
  status: delivery.status,
  attempts: delivery.attempts,
  response_status: delivery.responseStatus,
  failure: delivery.failure,
  next_attempt_at: delivery.dueAt?.toISOString() ?? null,
  created_at: delivery.createdAt.toISOString(),
  ended_at: delivery.endedAt?.toISOString() ?? null,
})

const presentNotification = (notification: Notification) => ({
  id: notification.id,
  kind: notification.kind,
  title: notification.title,
  body: notification.body,
  data: notification.data as Record<string, unknown>,
  read: notification.readAt !== null,
  created_at: notification.createdAt.toISOString(),
})

/** A user gets the notifications of their linked wallets too; a wallet gets only its own. */
export async function recipientsOf(ctx: HandlerContext) {
  if (ctx.actor.kind === 'wallet') return [`wallet:${ctx.actor.wallet.key}` as const]
  const { userId, wallets } = await getAccount(ctx.db, requireUser(ctx).userId)
  const linked = wallets.length === 0 ? [] : (await ownerOf(ctx)).wallets
  return [`user:${userId}` as const, ...linked.map(({ key }) => `wallet:${key}` as const)]
}

export const eventHandlers = {
  listEvents: handler('listEvents', {
    run: async (ctx, { after, limit, ...whose }) =>
      readEvents(ctx, await eventReaderOf(ctx, whose), BigInt(after), limit),
    present: ({ events, lastSeq }) => ({
      data: events.map(presentEvent),
      next_cursor: (count) => String(count < events.length ? (events[count - 1]?.seq ?? lastSeq) : lastSeq),
    }),
  }),

  listDeliveries: handler('listDeliveries', {
    run: async (ctx, { agent_id, limit, cursor, status }) => {
      const { id } = await requireOwnSeller(ctx, agent_id, 'see its deliveries')
      return listWebhookDeliveries(ctx, id, { limit, cursor, status })
    },
    present: ({ deliveries, nextCursor }) => ({
      data: deliveries.map(presentDelivery),
      next_cursor: nextCursor,
    }),
  }),

  testDelivery: handler('testDelivery', {
    run: async (ctx, { agent_id }) =>
      sendTest(ctx, await requireOwnSeller(ctx, agent_id, 'test its endpoint')),
    present: ({ delivery, durationMs, responseBody }) => ({
      data: { delivery: presentDelivery(delivery), took_ms: durationMs, response_body: responseBody },
    }),
  }),

  listNotifications: handler('listNotifications', {
    run: async (ctx, { limit, cursor }) => listNotifications(ctx, await recipientsOf(ctx), { limit, cursor }),
    present: ({ notifications, unread, nextCursor }) => ({
      data: notifications.map(presentNotification),
      next_cursor: nextCursor,
      unread_count: unread,
    }),
  }),

  markNotifications: handler('markNotifications', {
    run: async (ctx, { ids }) => markRead(ctx, await recipientsOf(ctx), ids),
    present: ({ marked, unread }) => ({ data: { marked }, unread_count: unread }),
  }),
}
