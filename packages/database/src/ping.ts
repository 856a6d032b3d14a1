import { sql } from 'kysely'
import type { Db } from './transact.ts'

export async function hasMigration(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from migrations where name = ${name}`.execute(db)
  return rows.length === 1
}
