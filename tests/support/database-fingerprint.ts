import { createHash } from 'node:crypto'
import type { Tables } from '@market/database/tables'
import type { Db } from '@market/database/transact'

/** A digest of every row of every table, by table: two that are equal mean that nothing was written between. */
export async function fingerprintOfDatabase(db: Db): Promise<Record<string, string>> {
  const fingerprints: Record<string, string> = {}
  for (const { name, schema = 'public' } of await db.introspection.getTables()) {
    const rows = await db
      .withSchema(schema)
      .selectFrom(name as keyof Tables)
      .selectAll()
      .execute()
    const text = rows.map((row) => JSON.stringify(row, exactly)).sort()
    fingerprints[`${schema}.${name}`] = createHash('sha256').update(text.join('\n')).digest('hex')
  }
  return fingerprints
}

const exactly = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)
