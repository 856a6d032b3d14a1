import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

/** Below the kernel's ephemeral range, so that no other process gets the port while the server is down. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000

export async function freePort(): Promise<number> {
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

/** Runs a program of Postgres as the user of the server. */
type AsServer = (program: string, args: readonly string[]) => Promise<unknown>

/** Fills the folder of a new server. */
type Fill = (data: string, asServer: AsServer) => Promise<unknown>

const emptyCluster: Fill = (data, asServer) =>
  asServer('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'])

/** A Postgres server of its own, with these settings. Its folder is created in `parent`. */
export async function startPostgresServer(
  settings: readonly string[],
  parent = tmpdir(),
  fill: Fill = emptyCluster,
) {
  const { stdout } = await run('pg_config', ['--bindir'])
  const folder = mkdtempSync(join(parent, 'market-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  // The server does not run as root.
  const asServer: AsServer = (program, args) => {
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
  await fill(data, asServer)
  const options = [`-p ${port} -k ${folder} -h 127.0.0.1`, ...settings.map((one) => `-c "${one}"`)].join(' ')
  const start = () => control('-o', options, 'start')
  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    /** Belongs to the user of the server, and is removed with it. */
    folder,
    /** The same server by its Unix socket, which takes less processor time than a TCP connection. */
    socketUrl: `postgres://postgres@127.0.0.1:${port}/postgres?host=${encodeURIComponent(folder)}`,
    data,
    asServer,
    /** What a killed server leaves behind, and a new one would take for a running server. */
    locks: [join(data, 'postmaster.pid'), join(folder, `.s.PGSQL.${port}.lock`)],
    start,
    /** Simulates a power failure: nothing is flushed, and the log is replayed. */
    crashAndRestart: () => control('-o', options, '-m', 'immediate', 'restart'),
    stop: async () => {
      if (existsSync(join(data, 'postmaster.pid'))) await control('-m', 'immediate', 'stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
