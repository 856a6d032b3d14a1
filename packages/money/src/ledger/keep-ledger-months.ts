import type { Needs } from '@market/core/context'
import { makeMonths } from './store.ts'

/** Makes the months to come before money moves in them. None is ever dropped: the books are kept. */
export const keepLedgerMonths = (ctx: Needs<'db' | 'clock'>): Promise<void> =>
  makeMonths(ctx.db, ctx.clock.now())
