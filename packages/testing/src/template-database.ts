import { createHash, randomBytes } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { migrate } from '@market/database/migrate'
import { readMigrations } from '@market/database/migrations'
import { createRoles } from '@market/database/roles'
import pg from 'pg'
import { startPostgresServer } from './postgres-server.ts'

/** The server of the run, see `setup`; without a run, the one of the machine. */
export const postgresUrl = (): string =>
  process.env['POSTGRES_URL'] ?? 'postgres://root@127.0.0.1:5432/postgres'

const LOCK = 7_301_403

export const databaseUrl = (name: string): string => {
  const url = new URL(postgresUrl())
  url.pathname = `/${name}`
  return url.href
}

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

/**
 * Named after the checkout and its migrations: a changed migration makes a new template, and test runs of two
 * checkouts do not drop each other's.
 */
function templateName(): string {
  const sums = readMigrations().map((migration) => migration.checksum)
  return `market_template_${shortHash(CHECKOUT)}_${shortHash(sums.join())}`
}

export async function asAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

let template: Promise<string> | undefined

/** The template, looked up once per process: each lookup opens a connection and waits for those of other workers. */
export const ensureTemplate = (): Promise<string> => {
  template ??= createTemplate()
  return template
}

/** Creates the template once. Concurrent runs wait on an advisory lock. */
async function createTemplate(): Promise<string> {
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
    await createRoles(postgresUrl())
    await migrate(databaseUrl(name))
    await client.query(`comment on database ${name} is ${client.escapeLiteral(CHECKOUT)}`)
    await client.query(`alter database ${name} is_template true`)
  })
  return name
}

/** Name prefix of the databases of one test run. The workers inherit it through the environment. */
const RUN = 'TEST_DATABASE_RUN'

export const newTestDatabaseName = (): string =>
  `market_test_${process.env[RUN] ?? 'single'}_${randomBytes(6).toString('hex')}`

/**
 * Drops a database without making the test wait: Postgres makes a checkpoint first, which takes long on a busy disk.
 * What a worker that ends leaves behind is dropped at the end of the run.
 */
export function dropTestDatabase(name: string): void {
  asAdmin((client) => client.query(`drop database if exists ${name} with (force)`)).catch(() => {})
}

/** Set while the server of POSTGRES_URL ends with the run. */
const IS_OWN = 'TEST_POSTGRES_IS_OWN'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * Memory, where there is enough: a run creates and drops hundreds of databases of a thousand files each. A container often
 * has 64 MB of it, and other systems have none.
 */
function folderOfRun(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return Math.min(bavail * bsize, freemem()) > ENOUGH_BYTES ? MEMORY : tmpdir()
}

/**
 * Starts a server for one run, so that runs side by side do not share its connections. Nothing in it must survive a power
 * failure; tests of what must start a durable server of their own.
 */
export async function startServerOfRun(): Promise<{ stop(): Promise<void> }> {
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'max_connections=200',
    'shared_buffers=256MB',
    'max_wal_size=1GB',
    'checkpoint_timeout=1h',
    'autovacuum_naptime=10min',
  ]
  const server = await startPostgresServer(settings, folderOfRun())
  process.env['POSTGRES_URL'] = server.socketUrl
  process.env[IS_OWN] = 'yes'
  return server
}

/**
 * Vitest's global setup, once per project: starts the server of the run unless POSTGRES_URL names one, creates the template
 * before the first file, and drops unused databases at the end.
 */
export async function setup(): Promise<() => Promise<void>> {
  process.env[RUN] ??= randomBytes(4).toString('hex')
  const server = process.env['POSTGRES_URL'] === undefined ? await startServerOfRun() : undefined
  const current = await ensureTemplate()
  if (server !== undefined) return () => server.stop()
  return async () => {
    if (process.env[IS_OWN] !== undefined) return
    await dropDatabasesOfRun()
    await dropUnusedTemplates(current)
  }
}

async function dropDatabasesOfRun(): Promise<void> {
  await asAdmin(async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [`market_test_${process.env[RUN]}_`],
    )
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  })
}

async function dropUnusedTemplates(current: string): Promise<void> {
  await asAdmin(async (client) => {
    const { rows } = await client.query<{ datname: string; checkout: string | null }>(
      `select datname, shobj_description(oid, 'pg_database') as checkout
       from pg_database where datname like 'market\\_template\\_%' and datistemplate`,
    )
    for (const { datname, checkout } of rows) {
      const isUsed =
        datname === current || (checkout !== null && checkout !== CHECKOUT && existsSync(checkout))
      if (isUsed) continue
      await client.query(`alter database ${datname} is_template false`)
      await client.query(`drop database if exists ${datname} with (force)`)
    }
  })
}
