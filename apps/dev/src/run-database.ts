import { migrate } from '@market/database/migrate'
import { createRoles } from '@market/database/roles'
import pg from 'pg'

export interface RunDatabase {
  readonly url: string
  /** Killed runs whose databases were dropped now. They may have left keys in Redis too. */
  readonly abandoned: readonly string[]
  drop(): Promise<void>
}

/** An advisory lock: one run at a time creates its database and drops abandoned ones. */
const LOCK = 7_301_404

const RUN_DATABASE = /^market_dev_[0-9a-f]{12}$/

/**
 * Creates and migrates a database for one run. The run stays connected to it. A run database without such a connection
 * belongs to a killed run, and the next run drops it.
 */
export async function createRunDatabase(adminUrl: string, name: string): Promise<RunDatabase> {
  const url = withDatabase(adminUrl, name)
  const presence = new pg.Client({ connectionString: url, application_name: name, keepAlive: true })
  presence.on('error', () => {})
  const drop = async () => {
    await presence.end().catch(() => {})
    await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`))
  }
  try {
    const abandoned = await asAdmin(adminUrl, async (admin) => {
      await admin.query('select pg_advisory_lock($1)', [LOCK])
      const dropped = await dropAbandoned(admin)
      await admin.query(`create database ${name} template template0 encoding 'UTF8'`)
      await presence.connect()
      return dropped
    })
    // The password of the server's own user, so that runs on one server agree on it.
    const password = decodeURIComponent(new URL(adminUrl).password)
    await createRoles(adminUrl, { api: password, worker: password })
    await migrate(url)
    return { url, abandoned, drop }
  } catch (error) {
    await drop()
    throw error
  }
}

async function dropAbandoned(admin: pg.Client): Promise<string[]> {
  const { rows } = await admin.query<{ datname: string }>(
    `select datname from pg_database
     where starts_with(datname, 'market_dev_')
       and not exists (select from pg_stat_activity where application_name = pg_database.datname)`,
  )
  const names = rows.map((row) => row.datname).filter((name) => RUN_DATABASE.test(name))
  for (const name of names) await admin.query(`drop database if exists ${name} with (force)`)
  return names
}

const withDatabase = (adminUrl: string, name: string): string => {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}
