import type { Needs } from '@market/core/context'
import { transact } from '@market/database/transact'
import { later, SECOND } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { type Again, advancePayout } from './advance-payout.ts'
import type { PayoutId } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { saveDue, takeDue } from './store.ts'

/** Long enough for most steps. Two that do the same step disturb nobody, so a dead worker is soon followed. */
const STEP_MS = 5 * SECOND
const AFTER_TROUBLE_MS = 2 * SECOND

/** The payouts of a network whose time has come, each given to one worker. */
export function duePayouts(ctx: Needs<'db' | 'clock'>, network: Network, limit: number): Promise<PayoutId[]> {
  const now = ctx.clock.now()
  return transact(ctx.db, (tx) => takeDue(tx, network, { now, next: later(now, STEP_MS) }, limit))
}

/** One step, and the time of the next one written down, so that whoever is alive then takes it. */
export async function advanceDue(ctx: PayoutContext, id: PayoutId): Promise<Again> {
  const comeBack = (ms: number) =>
    transact(ctx.db, (tx) => saveDue(tx, id, later(ctx.clock.now(), Math.round(ms))))
  try {
    const again = await advancePayout(ctx, id)
    if (again !== undefined) await comeBack(again)
    return again
  } catch (error) {
    await comeBack(AFTER_TROUBLE_MS)
    throw error
  }
}
