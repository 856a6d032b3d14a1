import { createHash } from 'node:crypto'
import { migrate, readMigrations } from '@market/database/migrate'
import pg from 'pg'

export const POSTGRES_URL = process.env['POSTGRES_URL'] ?? 'postgres://root@127.0.0.1:5432/postgres'

const LOCK = 7_301_403

export const databaseUrl = (name: string): string => {
  const url = new URL(POSTGRES_URL)
  url.pathname = `/${name}`
  return url.href
}

/** Named after the migrations themselves, so that a changed migration makes a new template. */
export function templateName(): string {
  const sums = readMigrations().map((migration) => migration.checksum)
  return `market_template_${createHash('sha256').update(sums.join()).digest('hex').slice(0, 12)}`
}

export async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: POSTGRES_URL })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Builds the template once; parallel runs wait for each other on an advisory lock. */
export async function ensureTemplate(): Promise<string> {
  const name = templateName()
  await asAdmin(async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const { rowCount } = await client.query(
      'select 1 from pg_database where datname = $1 and datistemplate',
      [name],
    )
    if (rowCount === 1) return
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name}`)
    await migrate(databaseUrl(name))
    await client.query(`alter database ${name} is_template true`)
  })
  return name
}

/** Vitest's global set-up: the template stands before the first file asks, and leftovers of dead runs go. */
export async function setup(): Promise<() => Promise<void>> {
  const current = await ensureTemplate()
  return async () => {
    await asAdmin(async (client) => {
      const { rows } = await client.query<{ datname: string }>(
        `select datname from pg_database where datname like 'market\\_template\\_%' and datname <> $1`,
        [current],
      )
      for (const { datname } of rows) {
        await client.query(`alter database ${datname} is_template false`)
        await client.query(`drop database if exists ${datname} with (force)`)
      }
    })
  }
}
