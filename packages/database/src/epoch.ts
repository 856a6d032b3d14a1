import { sql } from 'kysely'
import type { Db, Tx } from './transact.ts'

/** The current database epoch. A restart, a restore or a promotion begins another, which may have lost rows. */
export const DATABASE_EPOCH = sql<string>`database_epoch()`

export async function currentEpoch(db: Db | Tx): Promise<string> {
  const { rows } = await sql<{ epoch: string }>`select ${DATABASE_EPOCH} as epoch`.execute(db)
  return rows[0]?.epoch ?? ''
}
