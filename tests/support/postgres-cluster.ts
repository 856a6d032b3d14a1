import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import { createRoles } from '@market/database/roles'
import { type TestDatabase, TIMEOUT_FACTOR } from '@market/testing/postgres'
import { startPostgresServer } from '@market/testing/postgres-server'
import { startTcpProxy } from '@market/testing/tcp-proxy'
import pg from 'pg'
import { killPostgres } from './own-postgres.ts'
import { until } from './until.ts'

const run = promisify(execFile)

const SETTINGS = ['fsync=on', 'max_connections=120', 'wal_level=replica']
const STANDBY = 'standby'

export interface PostgresCluster {
  /** The database behind the address of the cluster, which the market uses. */
  readonly database: TestDatabase
  /** Whether a commit waits for the standby. */
  synchronous(on: boolean): Promise<void>
  /** The standby hears nothing from now on. */
  cutStandbyOff(): void
  killPrimary(): Promise<void>
  /** The standby becomes the primary, and the address points to it. */
  failOver(): Promise<void>
  /** The address points to the standby, which is not promoted, or to the primary again. */
  pointTo(server: 'primary' | 'standby'): void
  /** Nobody reaches the database. */
  close(): void
  /** A server with what was committed until this moment takes the address. */
  recoverTo(moment: Date): Promise<void>
}

/** A primary that archives its log, a streaming standby and a base backup, behind one address. */
export async function startPostgresCluster(): Promise<PostgresCluster> {
  const primary = await startPostgresServer([
    ...SETTINGS,
    'archive_mode=on',
    // In the folder of the data, which belongs to the user of the server.
    'archive_command=mkdir -p ../archive && cp %p ../archive/%f',
  ])
  await createRoles(primary.url)
  await migrate(primary.url)
  const base = join(primary.folder, 'base')
  const archive = join(primary.folder, 'archive')
  const here = { host: '127.0.0.1', port: primary.port }
  const [address, replication] = [await startTcpProxy(here), await startTcpProxy(here)]
  await primary.asServer('pg_basebackup', ['-d', primary.url, '-D', base, '-X', 'none', '-c', 'fast'])
  const source = `host=127.0.0.1 port=${replication.port} user=postgres application_name=${STANDBY}`
  const standby = await startPostgresServer(SETTINGS, tmpdir(), (data, asServer) =>
    asServer('pg_basebackup', ['-d', source, '-D', data, '-R', '-X', 'stream', '-c', 'fast']),
  )
  let recovered: Awaited<ReturnType<typeof startPostgresServer>> | undefined

  const url = primary.url.replace(String(primary.port), String(address.port))
  const db = connect({ url, timeoutFactor: TIMEOUT_FACTOR })

  const waitForArchive = async () => {
    const [segment] = await ask<{ name: string }>(
      primary.url,
      'select pg_walfile_name(pg_switch_wal()) as name',
    )
    const archived = 'select last_archived_wal as name from pg_stat_archiver'
    await until(
      'the log was archived',
      async () =>
        ((await ask<{ name: string | null }>(primary.url, archived))[0]?.name ?? '') >= (segment?.name ?? ''),
    )
  }

  return {
    database: {
      db,
      url,
      name: 'postgres',
      stop: async () => {
        await db.destroy()
        await Promise.all([address.stop(), replication.stop()])
        for (const server of [standby, recovered, primary]) await server?.stop()
      },
    },
    synchronous: async (on) => {
      await ask(
        primary.url,
        `alter system set synchronous_standby_names = '${on ? `ANY 1 (${STANDBY})` : ''}'`,
      )
      await ask(primary.url, 'select pg_reload_conf()')
      const wanted = on ? 'quorum' : 'async'
      await until('the standby is connected', async () => {
        const found = await ask<{ sync_state: string }>(
          primary.url,
          'select sync_state from pg_stat_replication',
        )
        return found.some(({ sync_state }) => sync_state === wanted)
      })
    },
    cutStandbyOff: () => replication.set({ blackhole: true }),
    killPrimary: () => killPostgres(primary),
    failOver: async () => {
      await ask(standby.url, 'select pg_promote()')
      address.moveTo(standby.port)
    },
    pointTo: (server) => address.moveTo((server === 'primary' ? primary : standby).port),
    close: () => {
      address.set({ reject: true })
      address.cut()
    },
    recoverTo: async (moment) => {
      await waitForArchive()
      const target = moment.toISOString().replace('Z', '+00')
      recovered = await startPostgresServer(
        [
          ...SETTINGS,
          `restore_command=cp ${archive}/%f %p`,
          `recovery_target_time=${target}`,
          'recovery_target_action=promote',
        ],
        tmpdir(),
        async (data) => {
          await run('cp', ['-a', base, data])
          closeSync(openSync(join(data, 'recovery.signal'), 'w'))
        },
      )
      const { url: recoveredUrl, port } = recovered
      await until('the recovery ended', async () => {
        const [found] = await ask<{ is: boolean }>(recoveredUrl, 'select pg_is_in_recovery() as is')
        return found?.is === false
      })
      address.set({ reject: false })
      address.moveTo(port)
    },
  }
}

async function ask<T extends object>(url: string, statement: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(statement)).rows
  } finally {
    await client.end()
  }
}
