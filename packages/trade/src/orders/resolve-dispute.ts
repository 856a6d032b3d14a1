import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import type { OrderId } from '@market/kernel/ids'
import { cancel, complete } from './changes.ts'
import { emitOrderCancelled } from './events.ts'
import { notifyBuyer } from './notifications.ts'
import type { Order } from './order.ts'
import { distributeEscrow, refundBuyer } from './order-money.ts'
import { requireTransition } from './states.ts'
import { lockOrder, saveOrder } from './store.ts'

/** What an arbiter can decide. The agent's share of a split is in basis points. */
export type Verdict =
  | { readonly outcome: 'release' }
  | { readonly outcome: 'refund' }
  | { readonly outcome: 'split'; readonly agentShareBps: number }

/** An operator ends a dispute. The decision is recorded in the audit log with its reason. */
export function resolveDispute(
  ctx: Needs<'transact' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>,
  orderId: OrderId,
  verdict: Verdict,
  note: string,
): Promise<Order> {
  return ctx.transact(async (tx) => {
    const order = await lockOrder(tx, orderId)
    const now = ctx.clock.now()
    const step = { role: 'arbiter', actor: nameOf(ctx.actor), at: now } as const
    const ended = async (): Promise<Order> => {
      if (verdict.outcome === 'refund') {
        requireTransition(order, 'reverse')
        const cancelled = await saveOrder(tx, order, cancel(order, now), { ...step, action: 'reverse' })
        await refundBuyer(ctx, tx, cancelled)
        await emitOrderCancelled(ctx, tx, cancelled, order.status)
        return cancelled
      }
      requireTransition(order, 'award')
      const outcome = verdict.outcome === 'split' ? 'split' : 'released'
      const action = { ...step, action: 'award' } as const
      const completed = await saveOrder(tx, order, complete(order, now, outcome), action)
      await distributeEscrow(
        ctx,
        tx,
        completed,
        BigInt(verdict.outcome === 'split' ? verdict.agentShareBps : 10_000),
      )
      return completed
    }
    const after = await ended()
    await notifyBuyer(ctx, tx, after, {
      kind: 'order.resolved',
      title: `The dispute about “${order.title}” was resolved`,
      body: note,
    })
    await record(ctx, tx, {
      act: `order.${verdict.outcome}`,
      subject: orderId,
      details: { ...verdict, note },
    })
    return after
  })
}
