import { sql } from 'kysely'
import { isOutage } from './outage.ts'
import type { Db } from './transact.ts'

export async function hasMigration(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from migrations where name = ${name}`.execute(db)
  return rows.length === 1
}

/**
 * Rejects a connection whose commits do not wait for the disk: a payout that was sent could be forgotten in a crash of
 * Postgres and be sent again. While Postgres is unreachable nothing is known, and nothing can be committed.
 */
export async function requireDurableCommits(db: Db): Promise<void> {
  const setting = await sql<{ value: string }>`select current_setting('synchronous_commit') as value`
    .execute(db)
    .catch((error: unknown) => {
      if (isOutage(error)) return undefined
      throw error
    })
  if (setting?.rows[0]?.value === 'off')
    throw new Error(
      'synchronous_commit is off for this database role. Set it to on: alter role <name> set synchronous_commit = on',
    )
}
