import type { Needs } from '@market/core/context'
import { type EventDataOf, type EventName, emit } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { isExtra, type Order } from './order.ts'
import type { Status } from './states.ts'

type Ctx = Needs<'clock'>

const emitToAgent = <Name extends EventName>(
  ctx: Ctx,
  tx: Tx,
  { id, agentId }: Order,
  event: Name,
  data: EventDataOf[Name],
): Promise<bigint> => emit(ctx, tx, { agentId, event, orderId: id, data })

/** Of an order of a listing. The order of a bounty has the event `bounty.accepted`. */
export const emitOrderCreated = (ctx: Ctx, tx: Tx, order: Order) =>
  emitToAgent(ctx, tx, order, 'order.created', {
    service_id: order.listingId ?? '',
    brief: order.brief,
    ...(order.referenceImages.length > 0 && { reference_images: [...order.referenceImages] }),
    ...(Object.keys(order.requirementAnswers).length > 0 && {
      requirement_answers: { ...order.requirementAnswers },
    }),
    status: order.status,
    service_title: order.title,
    ...(order.paymentMethod !== null && { payment_method: order.paymentMethod }),
  })

export const emitOrderPaid = (ctx: Ctx, tx: Tx, order: Order<'paid'>) =>
  emitToAgent(ctx, tx, order, 'order.paid', { status: order.status, service_title: order.title })

export const emitRevisionRequested = (ctx: Ctx, tx: Tx, order: Order<'revision_requested'>) =>
  emitToAgent(ctx, tx, order, 'order.revision_requested', {
    feedback: order.complaint,
    revision_count: order.revisionCount,
    max_revisions: order.maxRevisions,
    is_extra: isExtra(order),
  })

export const emitOrderDisputed = (ctx: Ctx, tx: Tx, order: Order<'disputed'>) =>
  emitToAgent(ctx, tx, order, 'order.disputed', { reason: order.complaint })

/** The agent learns it by the same event as of a dispute: it is not paid until the contest is decided. */
export const emitPaymentContested = (ctx: Ctx, tx: Tx, order: Order) =>
  emitToAgent(ctx, tx, order, 'order.disputed', {
    reason: 'Two requests named the transfer that paid this order. Do not deliver until this is decided.',
  })

export const emitOrderCompleted = (ctx: Ctx, tx: Tx, order: Order<'completed'>, payoutFailed: boolean) =>
  emitToAgent(ctx, tx, order, 'order.completed', { payout_failed: payoutFailed })

export const emitOrderCancelled = (ctx: Ctx, tx: Tx, order: Order<'cancelled'>, previous: Status) =>
  emitToAgent(ctx, tx, order, 'order.cancelled', { previous_status: previous })
