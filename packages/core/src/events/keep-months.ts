import type { Needs } from '../context.ts'
import { monthsAround, nameOfMonth } from './month.ts'
import { dropMonth, findMonthsBefore, makeMonth } from './store.ts'

/** Makes the months to come of a table before anything happens in them, and drops those wholly past keeping. */
export async function keepMonths(
  ctx: Needs<'db' | 'clock'>,
  table: 'events' | 'deliveries',
  keptSince: Date,
): Promise<void> {
  for (const month of monthsAround(ctx.clock.now())) await makeMonth(ctx.db, table, month)
  for (const name of await findMonthsBefore(ctx.db, table, nameOfMonth(keptSince)))
    await dropMonth(ctx.db, name)
}
