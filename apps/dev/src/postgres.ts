import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { HOST, randomPort } from './ports.ts'
import { type RunningProcess, startSupervised } from './supervised-server.ts'

export interface Postgres {
  /** The URL of the `postgres` database, for creating others. */
  readonly adminUrl: string
  /** Set when this run started the server. */
  readonly own?: RunningProcess
}

const run = promisify(execFile)

const MIN_VERSION = 150_000
const START_ATTEMPTS = 10

/** The data does not have to survive a power failure. */
const NOT_DURABLE = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']

/** Uses `url`, else the server on the default port, else starts one. */
export async function findPostgres(url: string | undefined): Promise<Postgres> {
  if (url !== undefined) {
    const reason = await unusableReason(url)
    if (reason !== undefined) throw new Error(`POSTGRES_URL cannot be used: ${reason}`)
    return { adminUrl: url }
  }
  const defaultUrl = `postgres://${encodeURIComponent(userInfo().username)}@${HOST}:5432/postgres`
  return (await unusableReason(defaultUrl)) === undefined ? { adminUrl: defaultUrl } : await startPostgres()
}

async function unusableReason(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: number; can_create: boolean }>(
      `select current_setting('server_version_num')::int as version, rolcreatedb or rolsuper as can_create
       from pg_roles where rolname = current_user`,
    )
    if ((rows[0]?.version ?? 0) < MIN_VERSION) return 'it is older than PostgreSQL 15'
    return rows[0]?.can_create ? undefined : 'its user cannot create databases'
  } catch (error) {
    return error instanceof Error ? error.message || error.name : String(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The folder of the newest version on Debian; elsewhere empty, so that PATH is used. */
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
    const port = randomPort()
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
      const server = {
        program: `${bin}postgres`,
        args: [...where, ...NOT_DURABLE],
        folder,
        ...(user && { user }),
      }
      const own = await startSupervised(server, 'database system is ready to accept connections')
      if (own !== undefined)
        return { adminUrl: `postgres://market:${password}@${HOST}:${port}/postgres`, own }
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw new Error('PostgreSQL is not running and could not be started. Install it or set POSTGRES_URL.', {
        cause: error,
      })
    }
  }
  throw new Error(`PostgreSQL did not start in ${START_ATTEMPTS} attempts`)
}

/** Postgres does not run as root, so it runs as the `postgres` user that its packages create. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])))
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
}
