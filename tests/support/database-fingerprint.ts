import type { Db } from '@market/database/transact'
import { sql } from 'kysely'

/** A digest of every row of every table, by table: two that are equal mean that nothing was written between. */
export async function fingerprintOfDatabase(db: Db): Promise<Record<string, string>> {
  // Parents of partitions are left out: their rows are those of the partitions.
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select nspname as schema, relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and nspname <> 'information_schema' and nspname not like 'pg\\_%'
    order by nspname, relname`.execute(db)
  const digests = tables.map(({ schema, name }) => {
    const table = sql.id(schema, name)
    return sql`select ${`${schema}.${name}`} as name,
      (select md5(string_agg(t::text, chr(10) order by t::text)) from ${table} t) as digest`
  })
  const { rows } = await sql<{
    name: string
    digest: string | null
  }>`${sql.join(digests, sql` union all `)}`.execute(db)
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest ?? 'empty']))
}
