import { setTimeout as wait } from 'node:timers/promises'
import { Logger, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { grantRoles } from './grants.ts'
import { type Migration, readMigrations } from './migrations.ts'
import { sqlStateOf } from './transact.ts'

/** Advisory lock that lets only one process migrate a database at a time. */
const LOCK = 7_301_402

/** While a statement waits for a lock, everybody else who uses the table waits behind it. So it gives up soon and tries again. */
const LOCK_TIMEOUT = '1s'
const LOCK_ATTEMPTS = 60
const LOCK_NOT_AVAILABLE = '55P03'

/** First line of a migration whose statements cannot run in a transaction, such as `create index concurrently`. */
const OUTSIDE_TRANSACTION = '-- outside a transaction'

/** Applies the missing migrations, each in its own transaction. Rejects a database that others made, or an earlier form of a file. */
export async function migrate(url: string, migrations = readMigrations()): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set lock_timeout = '5s'`)
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query(
      'create table if not exists migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from migrations',
    )
    const applied = new Map(rows.map((row) => [row.name, row.checksum]))
    rejectOtherHistory(applied, migrations)
    const done: string[] = []
    for (const migration of migrations) {
      if (applied.has(migration.name)) continue
      await withLocks(() => apply(client, migration))
      done.push(migration.name)
    }
    // The job engine has its own schema in the same database, so that jobs are written in the same transactions.
    await migrateJobEngine(url)
    await grantRoles(client)
    return done
  } finally {
    await client.end()
  }
}

/** A later release may have applied more files. Anything else was made by files that are not these. */
function rejectOtherHistory(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]))
  const last = migrations.at(-1)?.name ?? ''
  for (const [name, checksum] of applied) {
    if (!known.has(name) && name < last)
      throw new Error(`The database has migration ${name}, which this version does not have. ${RECREATE}`)
    if (known.has(name) && known.get(name) !== checksum)
      throw new Error(`Migration ${name} was changed after it was applied. ${RECREATE}`)
  }
}

/** There is no upgrade before the first release: docs/operations/migrations.md. */
const RECREATE =
  'Drop the database, create it again and migrate it. If its data matters, use the version that made it.'

const SILENT = new Logger(() => () => {})

/** A connection that is closing may still break, for example because the database is dropped. That must not end the process. */
async function migrateJobEngine(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    await runMigrations({ pgPool: pool, logger: SILENT })
  } finally {
    await pool.end()
  }
}

async function withLocks(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      if (attempt === LOCK_ATTEMPTS || sqlStateOf(cause) !== LOCK_NOT_AVAILABLE) throw error
      await wait(attempt * 50)
    }
  }
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  if (sql.startsWith(OUTSIDE_TRANSACTION)) {
    try {
      // Sent together they would be one transaction.
      for (const statement of sql.split(/;\s*\n/)) await client.query(statement)
    } catch (error) {
      throw new Error(`Migration ${name} failed`, { cause: error })
    }
    await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum])
    return
  }
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${name} failed`, { cause: error })
  }
}
