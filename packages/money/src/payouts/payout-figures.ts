import type { Needs } from '@market/core/context'
import { findFigures, type PayoutFigures } from './store.ts'

/** How payouts stand on each network, for operators. */
export const payoutFigures = (ctx: Needs<'db' | 'clock'>): Promise<PayoutFigures[]> =>
  findFigures(ctx.db, ctx.clock.now())
