import { sql } from 'kysely'
import { isOutage } from './outage.ts'
import type { Db } from './transact.ts'

/** Whether the database has the migration, and whether it is a standby, which rejects every write. */
export async function askDatabase(
  db: Db,
  migration: string,
): Promise<{ readonly hasMigration: boolean; readonly isStandby: boolean }> {
  const { rows } = await sql<{ hasMigration: boolean; isStandby: boolean }>`
    select exists (select from migrations where name = ${migration}) as "hasMigration",
      pg_is_in_recovery() as "isStandby"`.execute(db)
  return rows[0] ?? { hasMigration: false, isStandby: false }
}

/** Commits with these settings wait for the disk and for synchronous standbys. `local` ignores the standbys. */
// fix: durable-commits
const DURABLE = ['on', 'remote_apply']

/**
 * Rejects a connection whose commits do not wait for the disk and for synchronous standbys: a payout that was sent could be forgotten in a crash of
 * Postgres or its promotion, and be sent again. While Postgres is unreachable nothing is known, and nothing can be committed.
 */
export async function requireDurableCommits(db: Db): Promise<void> {
  const setting = await sql<{ value: string }>`select current_setting('synchronous_commit') as value`
    .execute(db)
    .catch((error: unknown) => {
      if (isOutage(error)) return undefined
      throw error
    })
  const value = setting?.rows[0]?.value
  if (value !== undefined && !DURABLE.includes(value))
    throw new Error(
      `synchronous_commit is ${value} for this database role. Set it to on or remote_apply: alter role <name> set synchronous_commit = on`,
    )
}
