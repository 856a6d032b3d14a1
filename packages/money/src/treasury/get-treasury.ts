import type { Needs } from '@market/core/context'
import { listSwitches, payoutSwitches } from '@market/core/switches'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import { balanceOf, fees } from '../ledger/index.ts'
import { availableFees, type PayoutMetrics, payoutMetrics, sumWithdrawnFees } from '../payouts/index.ts'

export interface Treasury extends Omit<PayoutMetrics, 'isGuarded'> {
  /** Whether payouts may be authorized now: the guard is open and no emergency switch freezes them. */
  readonly isOpen: boolean
  /** The platform's revenue, what of it can be withdrawn, and what was. */
  readonly fees: { readonly balance: Usdc; readonly available: Usdc; readonly withdrawn: Usdc }
}

/** The treasury and the payouts of every network, including networks that were never compared with their chain. */
export async function getTreasury(ctx: Needs<'db' | 'clock'>): Promise<Treasury[]> {
  const on = new Set(
    (await listSwitches(ctx)).filter(({ onSince }) => onSince !== null).map(({ name }) => name),
  )
  const metrics = await payoutMetrics(ctx)
  const withdrawn = await sumWithdrawnFees(ctx.db)
  return Promise.all(
    metrics.map(async (one) => ({
      ...one,
      isOpen: one.isOpen && !payoutSwitches(one.network).some((name) => on.has(name)),
      fees: {
        balance: usdc(await balanceOf(ctx.db, fees(one.network))),
        available: await availableFees(ctx.db, one.network),
        withdrawn: withdrawn.find(({ network }) => network === one.network)?.amount ?? ZERO,
      },
    })),
  )
}
