import type { Needs } from '@market/core/context'
import { listSwitches, payoutSwitches } from '@market/core/switches'
import { NETWORKS } from '@market/kernel/network'
import { payoutFigures } from '../payouts/index.ts'
import { findTreasuries, type TreasuryFigures } from './store.ts'

export interface Treasury extends TreasuryFigures {
  /** Whether payouts may leave now: compared with the chain, not short, and not frozen. */
  readonly isOpen: boolean
}

/** How each network's treasury and its payouts stand. A network that nobody has compared yet is listed, too. */
export async function getTreasury(ctx: Needs<'db' | 'clock'>): Promise<Treasury[]> {
  const on = new Set(
    (await listSwitches(ctx)).filter(({ onSince }) => onSince !== null).map(({ name }) => name),
  )
  const open = new Set(
    (await payoutFigures(ctx)).filter(({ isOpen }) => isOpen).map(({ network }) => network),
  )
  const figures = await findTreasuries(ctx.db, NETWORKS, ctx.clock.now())
  return figures.map((one) => ({
    ...one,
    isOpen: open.has(one.network) && !payoutSwitches(one.network).some((name) => on.has(name)),
  }))
}
