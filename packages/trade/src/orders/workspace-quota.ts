import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import { applyDueTransition, endWorkspace } from './deadlines.ts'
import { isOpenWorkspace, type Order } from './order.ts'
import { rejectWhileContested } from './payment/contest-order.ts'
import { lockOrder, saveFields, wasStopped } from './store.ts'
import { completeUnit, isUsedUp, returnUnit, takeUnit } from './workspace.ts'

type Ctx = Needs<'clock' | 'ids'>

/** Locks an order whose workspace is open. `authorize` rejects callers who may not use it. */
export async function lockWorkspace(
  ctx: Ctx,
  tx: Tx,
  orderId: OrderId,
  authorize: (order: Order) => Promise<void>,
): Promise<Order<'in_progress'>> {
  const locked = await lockOrder(tx, orderId)
  await authorize(locked)
  const order = await applyDueTransition(ctx, tx, locked, ctx.clock.now())
  rejectWhileContested(order)
  if (isOpenWorkspace(order)) return order
  const why =
    order.quotaTotal === 0
      ? 'Its service has no quota, so it opens no workspace.'
      : `Its status is \`${order.status}\`; a workspace is open while it is \`in_progress\`.`
  throw new ApiError('conflict', `This order has no open workspace. ${why}`, { code: 'workspace_not_open' })
}

export async function takeQuota(
  ctx: Ctx,
  tx: Tx,
  order: Order<'in_progress'>,
  deadline: Date,
): Promise<Order> {
  const now = ctx.clock.now()
  const after = takeUnit(order, now, deadline)
  await saveFields(tx, after, now)
  return after
}

/** The last completed generation ends the workspace. */
export async function completeQuota(ctx: Ctx, tx: Tx, order: Order<'in_progress'>): Promise<Order> {
  const now = ctx.clock.now()
  const after = completeUnit(order)
  if (isUsedUp(after)) return endWorkspace(ctx, tx, after, now)
  await saveFields(tx, after, now)
  return after
}

/** Of a generation that the agent did not complete. `requestedAt` is given when it was not answered in time. */
export async function returnQuota(ctx: Ctx, tx: Tx, order: Order, requestedAt?: Date): Promise<Order> {
  const after = returnUnit(order, requestedAt === undefined || !(await wasStopped(tx, order.id, requestedAt)))
  await saveFields(tx, after, ctx.clock.now())
  return after
}
