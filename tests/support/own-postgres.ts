import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import { createRoles } from '@market/database/roles'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { startPostgresServer } from '@market/testing/postgres-server'
import { until } from './until.ts'

const run = promisify(execFile)

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie process holds no resources.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const kill = (pid: number, signal: NodeJS.Signals): void => {
  if (isAlive(pid)) process.kill(pid, signal)
}

type PostgresServer = Awaited<ReturnType<typeof startPostgresServer>>

/** kill -9 of the server and of all its processes. */
export async function killPostgres({ data, locks }: PostgresServer): Promise<void> {
  const parent = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  // The server first, and stopped, so that it starts no other process while its own are killed.
  kill(parent, 'SIGSTOP')
  const { stdout: listed } = await run('ps', ['-o', 'pid=', '--ppid', String(parent)])
  const all = [parent, ...listed.trim().split(/\s+/).map(Number)]
  for (const pid of all) kill(pid, 'SIGKILL')
  await until('the server is gone', () => !all.some(isAlive))
  // They name a process that may not have been waited for yet, and would be taken for a running server.
  for (const lock of locks) rmSync(lock, { force: true })
}

/** A separate Postgres server that a test can kill without affecting other tests. */
export async function startOwnPostgres() {
  const server = await startPostgresServer(['fsync=on', 'max_connections=80'])
  const { url } = server
  await createRoles(url)
  await migrate(url)
  const db = connect({ url, timeoutFactor: TIMEOUT_FACTOR })
  return {
    db,
    url,
    /** `start` brings it back, which replays its log. */
    kill: () => killPostgres(server),
    start: server.start,
    crashAndRestart: server.crashAndRestart,
    stop: async () => {
      await db.destroy()
      await server.stop()
    },
  }
}
