import type { Needs } from '@market/core/context'
import { findPurchaseFigures, type PurchaseFigures } from './store.ts'

/** How payments that we brought to the chains stand, for operators: what is long under way, nobody sees through. */
export const purchaseFigures = (ctx: Needs<'db' | 'clock'>): Promise<PurchaseFigures[]> =>
  findPurchaseFigures(ctx.db, ctx.clock.now())
