import { type Usdc, usdc } from '@market/kernel/money'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from './transact.ts'

/** The sum of `amount_micros` of what is left of a query after `select`, such as sql`from transfers`; 0 of no row. */
export async function sumAmounts(db: Db | Tx, from: RawBuilder<unknown>): Promise<Usdc> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(amount_micros), 0)::bigint as sum ${from}`.execute(db)
  return usdc(rows[0]?.sum ?? 0n)
}
