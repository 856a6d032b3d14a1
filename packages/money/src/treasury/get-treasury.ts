import type { Needs } from '@market/core/context'
import { listSwitches, payoutSwitches } from '@market/core/switches'
import { type PayoutMetrics, payoutMetrics } from '../payouts/index.ts'

export interface Treasury extends Omit<PayoutMetrics, 'isGuarded'> {
  /** Whether payouts may be authorized now: the guard is open and no emergency switch freezes them. */
  readonly isOpen: boolean
}

/** The treasury and the payouts of every network, including networks that were never compared with their chain. */
export async function getTreasury(ctx: Needs<'db' | 'clock'>): Promise<Treasury[]> {
  const on = new Set(
    (await listSwitches(ctx)).filter(({ onSince }) => onSince !== null).map(({ name }) => name),
  )
  const metrics = await payoutMetrics(ctx)
  return metrics.map((one) => ({
    ...one,
    isOpen: one.isOpen && !payoutSwitches(one.network).some((name) => on.has(name)),
  }))
}
