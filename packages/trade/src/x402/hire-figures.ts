import type { Needs } from '@market/core/context'
import { findHireFigures, type HireFigures } from './store.ts'

/** How payments that we brought to the chains stand, for operators: what is long under way, nobody sees through. */
export const hireFigures = (ctx: Needs<'db' | 'clock'>): Promise<HireFigures[]> =>
  findHireFigures(ctx.db, ctx.clock.now())
