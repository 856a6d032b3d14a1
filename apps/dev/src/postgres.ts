import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Running, startLeashed } from './leash.ts'
import { HOST, somePort } from './ports.ts'

export interface Postgres {
  /** Of a database that is always there, for making others. */
  readonly adminUrl: string
  /** Present when the server was started by us. */
  readonly own?: Running
}

const run = promisify(execFile)

const OLDEST_VERSION = 150_000
const START_ATTEMPTS = 10

/** Nothing here has to outlive a power cut. */
const QUICK = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']

/** The one named, else the one usually there, else one of our own. */
export async function findPostgres(url: string | undefined): Promise<Postgres> {
  if (url !== undefined) {
    const wrong = await whyUnusable(url)
    if (wrong !== undefined) throw new Error(`POSTGRES_URL cannot be used: ${wrong}`)
    return { adminUrl: url }
  }
  const usual = `postgres://${encodeURIComponent(userInfo().username)}@${HOST}:5432/postgres`
  return (await whyUnusable(usual)) === undefined ? { adminUrl: usual } : await startPostgres()
}

async function whyUnusable(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: number; may_create: boolean }>(
      `select current_setting('server_version_num')::int as version, rolcreatedb or rolsuper as may_create
       from pg_roles where rolname = current_user`,
    )
    if ((rows[0]?.version ?? 0) < OLDEST_VERSION) return 'it is older than PostgreSQL 15'
    return rows[0]?.may_create ? undefined : 'its user may not create databases'
  } catch (error) {
    return error instanceof Error ? error.message || error.name : String(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** On Debian the newest version's own folder; elsewhere what the shell would find. */
function binaries(): string {
  const versionOf = (folder: string) => Number(/(\d+)\/bin$/.exec(folder)?.[1] ?? 0)
  const folders = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionOf(b) - versionOf(a))
  return folders[0] === undefined ? '' : `${folders[0]}/`
}

export async function startPostgres(): Promise<Postgres> {
  const bin = binaries()
  const password = randomBytes(16).toString('hex')
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), 'market-dev-postgres-'))
    const port = somePort()
    try {
      const user = await unprivilegedUser()
      const passwordFile = join(folder, 'password')
      writeFileSync(passwordFile, password, { mode: 0o600 })
      for (const path of user ? [folder, passwordFile] : []) chownSync(path, user?.uid ?? 0, user?.gid ?? 0)
      const data = join(folder, 'data')
      const identity = ['-U', 'market', '-A', 'scram-sha-256', '--pwfile', passwordFile]
      await run(`${bin}initdb`, ['-D', data, ...identity, '-E', 'UTF8', '--no-locale', '--no-sync'], {
        cwd: folder,
        ...user,
      })
      const where = ['-D', data, '-h', HOST, '-p', String(port), '-c', 'unix_socket_directories=']
      const server = { program: `${bin}postgres`, args: [...where, ...QUICK], folder, ...(user && { user }) }
      const own = await startLeashed(server, 'database system is ready to accept connections')
      if (own !== undefined)
        return { adminUrl: `postgres://market:${password}@${HOST}:${port}/postgres`, own }
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw new Error(
        'No PostgreSQL is running here and none could be started: install it or set POSTGRES_URL',
        {
          cause: error,
        },
      )
    }
  }
  throw new Error('PostgreSQL did not start')
}

/** Postgres rejects to run as root; packages bring a user for it. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])))
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
}
