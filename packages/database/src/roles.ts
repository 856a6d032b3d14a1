import pg from 'pg'

/** The database roles of the programs. The owner of the tables, which migrates them, has any name. */
export const ROLES = { api: 'market_api', worker: 'market_worker' } as const

export type RoleName = keyof typeof ROLES

type RolePasswords = { readonly [Name in RoleName]?: string | undefined }

/** Advisory lock of `createRoles`, in the database `postgres` because roles belong to the whole server. */
const LOCK = 7_301_405

/**
 * The part of the server's connections that one role may have, so that a program whose commits hang leaves some to the other
 * and to operators. A limit that somebody set stays.
 */
const CONNECTION_SHARE = 0.8

/**
 * The settings that the programs also send when they connect: a pooler in transaction mode drops those. A commit that
 * does not wait for the disk could lose a signed payout that was already sent.
 */
const SETTINGS = {
  synchronous_commit: 'on',
  statement_timeout: '4s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
} as const

/**
 * Creates the roles of the api and the worker, or updates their settings. Any number of processes may call it. Without
 * a password a role can only log in where the server does not ask for one.
 */
export async function createRoles(adminUrl: string, passwords: RolePasswords = {}): Promise<void> {
  const url = new URL(adminUrl)
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    for (const name of Object.keys(ROLES) as RoleName[])
      await createRole(client, ROLES[name], passwords[name] ?? '')
    await joinApi(client)
  } finally {
    await client.end()
  }
}

/** The owner's function `end_old_transactions` ends sessions of the api, which only a member of its role may. */
async function joinApi(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isMember: boolean }>(
    `select pg_has_role(current_user, $1, 'usage') as "isMember"`,
    [ROLES.api],
  )
  if (rows[0]?.isMember !== true) await client.query(`grant ${ROLES.api} to current_user`)
}

async function createRole(client: pg.Client, role: string, password: string): Promise<void> {
  const { rows: known } = await client.query<{ limit: number }>(
    'select rolconnlimit as limit from pg_roles where rolname = $1',
    [role],
  )
  if (known.length === 0)
    await client.query(`create role ${role} login nosuperuser nocreatedb nocreaterole noinherit`)
  // fix: role-connections
  if ((known[0]?.limit ?? -1) === -1) await limitConnections(client, role)
  if (password !== '') await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`)
  const { rows } = await client.query<{ settings: string[] | null }>(
    `select setconfig as settings from pg_db_role_setting join pg_roles on pg_roles.oid = setrole
     where rolname = $1 and setdatabase = 0`,
    [role],
  )
  const set = new Set(rows[0]?.settings ?? [])
  // fix: stronger-commits
  const settings = { ...SETTINGS, ...(await strongerCommits(client, set)) }
  for (const [name, value] of Object.entries(settings))
    if (!set.has(`${name}=${value}`)) await client.query(`alter role ${role} set ${name} = '${value}'`)
}

/** `remote_apply`, of the role or of the server, stays: it also waits until the standbys show what was committed. */
async function strongerCommits(client: pg.Client, set: ReadonlySet<string>) {
  const { rows } = await client.query<{ value: string }>(
    `select current_setting('synchronous_commit') as value`,
  )
  const isStronger = rows[0]?.value === 'remote_apply' || set.has('synchronous_commit=remote_apply')
  return isStronger ? { synchronous_commit: 'remote_apply' } : {}
}

async function limitConnections(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query<{ max: string }>(`select current_setting('max_connections') as max`)
  const limit = Math.floor(Number(rows[0]?.max) * CONNECTION_SHARE)
  await client.query(`alter role ${role} connection limit ${limit}`)
}

/** The same database, as another role. */
export function urlOfRole(url: string, role: RoleName, password = new URL(url).password): string {
  const changed = new URL(url)
  changed.username = ROLES[role]
  changed.password = password
  return changed.href
}
