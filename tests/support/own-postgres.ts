import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'
import { createRoles } from '@market/database/roles'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { until } from './until.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

/** Below the kernel's ephemeral range, so that no other process gets the port while the server is down. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000

async function freePort(): Promise<number> {
  const port = randomInt(FIRST_PORT, LAST_PORT)
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort()
  await once(server.close(), 'close')
  return port
}

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

/** A separate Postgres server that a test can kill without affecting other tests. */
export async function startOwnPostgres() {
  const { stdout } = await run('pg_config', ['--bindir'])
  const folder = mkdtempSync(join(tmpdir(), 'market-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  // The server refuses to run as root.
  const asServer = (program: string, args: readonly string[]) => {
    const path = join(stdout.trim(), program)
    return isRoot ? run('runuser', ['-u', 'postgres', '--', path, ...args]) : run(path, [...args])
  }
  if (isRoot) {
    const { stdout: uid } = await run('id', ['-u', 'postgres'])
    chownSync(folder, Number(uid), -1)
  }
  chmodSync(folder, 0o700)
  const control = (...args: string[]) =>
    asServer('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), ...args])
  await asServer('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'])
  const options = `-p ${port} -k ${folder} -h 127.0.0.1 -c fsync=on -c max_connections=80`
  await control('-o', options, 'start')
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await createRoles(url)
  await migrate(url)
  const db = connect({ url, timeoutFactor: TIMEOUT_FACTOR })
  /** The server first, and stopped, so that it starts no other process while its own are killed. */
  const killAll = async () => {
    const server = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    kill(server, 'SIGSTOP')
    const { stdout: listed } = await run('ps', ['-o', 'pid=', '--ppid', String(server)])
    const all = [server, ...listed.trim().split(/\s+/).map(Number)]
    for (const pid of all) kill(pid, 'SIGKILL')
    await until('the server is gone', () => !all.some(isAlive))
    // They name a process that may not have been waited for yet, and would be taken for a running server.
    for (const lock of [join(data, 'postmaster.pid'), join(folder, `.s.PGSQL.${port}.lock`)])
      rmSync(lock, { force: true })
  }
  return {
    db,
    url,
    /** kill -9 of the server and of all its processes; `start` brings it back, which replays its log. */
    kill: killAll,
    start: () => control('-o', options, 'start'),
    /** Simulates a power failure: nothing is flushed, and the log is replayed. */
    crashAndRestart: () => control('-o', options, '-m', 'immediate', 'restart'),
    stop: async () => {
      await db.destroy()
      await control('-m', 'immediate', 'stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
