import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import type { OrderId } from '@market/kernel/ids'
import { moveIfDue } from './move-if-due.ts'
import { type Due, findDue, lockOrder } from './store.ts'

const BATCH = 100
/** How much one run moves, so that a long backlog leaves room for other work. */
const BATCHES = 10

type Ctx = Needs<'db' | 'clock' | 'ids'>

/**
 * Moves the orders nobody moved in time. One transaction each, and each decided by the row's own time under its lock, so
 * any number of workers may do this at once; an order in trouble stays due and holds up no other.
 */
export async function moveDueOrders(ctx: Ctx): Promise<number> {
  const failures: unknown[] = []
  let moved = 0
  let after: Due | undefined
  for (let batch = 0; batch < BATCHES; batch++) {
    const due = await findDue(ctx.db, ctx.clock.now(), { limit: BATCH, after })
    for (const { id } of due)
      await moveOrder(ctx, id).then(
        () => moved++,
        (error: unknown) => failures.push(error),
      )
    after = due.at(-1)
    if (due.length < BATCH) break
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some orders could not be moved')
  return moved
}

const moveOrder = (ctx: Ctx, id: OrderId) =>
  transact(ctx.db, async (tx) => moveIfDue(ctx, tx, await lockOrder(tx, id), ctx.clock.now()))
