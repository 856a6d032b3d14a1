import { startPostgresServer } from '@market/testing/postgres-server'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createRoles } from './roles.ts'

test('createRoles: keeps a stronger synchronous_commit and a connection limit that somebody set', async () => {
  const own = await startPostgresServer(['max_connections=50'])
  const admin = new pg.Client({ connectionString: own.url })
  try {
    await createRoles(own.url)
    await admin.connect()
    const roles = async () =>
      (
        await admin.query<{ name: string; limit: number; settings: string[] }>(
          `select rolname as name, rolconnlimit as limit, setconfig as settings from pg_roles
           join pg_db_role_setting on setrole = pg_roles.oid and setdatabase = 0 order by rolname`,
        )
      ).rows
    expect((await roles()).map(({ name, limit }) => [name, limit])).toEqual([
      ['market_api', 40],
      ['market_worker', 40],
    ])
    await admin.query('alter role market_api set synchronous_commit = remote_apply')
    await admin.query('alter role market_worker set synchronous_commit = local')
    await admin.query('alter role market_worker connection limit 7')
    await createRoles(own.url)
    const [api, worker] = await roles()
    expect(api?.settings).toContain('synchronous_commit=remote_apply')
    expect(worker?.settings).toContain('synchronous_commit=on')
    expect(worker?.limit).toBe(7)
    await admin.query('alter system set synchronous_commit = remote_apply')
    await admin.query('select pg_reload_conf()')
    await createRoles(own.url)
    expect((await roles())[1]?.settings).toContain('synchronous_commit=remote_apply')
  } finally {
    await admin.end()
    await own.stop()
  }
})
