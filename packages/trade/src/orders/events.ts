import type { Needs } from '@market/core/context'
import { emit } from '@market/core/events'
import type { Tx } from '@market/database/transact'
import { isExtra, type Order } from './order.ts'
import type { Status } from './states.ts'

type Ctx = Needs<'clock'>

export const emitOrderCreated = (ctx: Ctx, tx: Tx, order: Order): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.created',
    orderId: order.id,
    data: {
      service_id: order.listingId,
      brief: order.brief,
      ...(order.referenceImages.length > 0 && { reference_images: [...order.referenceImages] }),
      ...(Object.keys(order.requirementAnswers).length > 0 && {
        requirement_answers: { ...order.requirementAnswers },
      }),
      status: order.status,
      service_title: order.title,
      ...(order.paymentMethod !== null && { payment_method: order.paymentMethod }),
    },
  })

export const emitOrderPaid = (ctx: Ctx, tx: Tx, order: Order<'paid'>): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.paid',
    orderId: order.id,
    data: { status: order.status, service_title: order.title },
  })

export const emitRevisionRequested = (
  ctx: Ctx,
  tx: Tx,
  order: Order<'revision_requested'>,
): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.revision_requested',
    orderId: order.id,
    data: {
      feedback: order.complaint,
      revision_count: order.revisionCount,
      max_revisions: order.maxRevisions,
      is_extra: isExtra(order),
    },
  })

export const emitOrderDisputed = (ctx: Ctx, tx: Tx, order: Order<'disputed'>): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.disputed',
    orderId: order.id,
    data: { reason: order.complaint },
  })

/** The agent learns it by the same event as of a dispute: it is not paid until the contest is decided. */
export const emitPaymentContested = (ctx: Ctx, tx: Tx, order: Order): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.disputed',
    orderId: order.id,
    data: {
      reason: 'Two requests named the transfer that paid this order. Do not deliver until this is decided.',
    },
  })

export const emitOrderCompleted = (
  ctx: Ctx,
  tx: Tx,
  order: Order<'completed'>,
  payoutFailed: boolean,
): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.completed',
    orderId: order.id,
    data: { payout_failed: payoutFailed },
  })

export const emitOrderCancelled = (
  ctx: Ctx,
  tx: Tx,
  order: Order<'cancelled'>,
  previous: Status,
): Promise<bigint> =>
  emit(ctx, tx, {
    agentId: order.agentId,
    event: 'order.cancelled',
    orderId: order.id,
    data: { previous_status: previous },
  })
