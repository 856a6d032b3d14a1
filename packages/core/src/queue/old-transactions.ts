import type { Db } from '@market/database/transact'
import { sql } from 'kysely'

/** Requests of the api end within 15 seconds. */
const MAX_AGE_SECONDS = 60

/** Ends sessions of the api whose transaction is older than a minute. Returns how many it ended. */
export async function endOldTransactions(
  { db }: { readonly db: Db },
  maxAgeSeconds: number = MAX_AGE_SECONDS,
): Promise<number> {
  const { rows } = await sql<{ ended: number }>`
    select end_old_transactions(make_interval(secs => ${maxAgeSeconds})) as ended`.execute(db)
  return rows[0]?.ended ?? 0
}
