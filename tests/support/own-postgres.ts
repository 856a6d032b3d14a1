import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import { migrate } from '@market/database/migrate'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/** A Postgres server of the test's own, which may be broken without breaking anybody else's. */
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
  await migrate(url)
  const db = connect({ url })
  return {
    db,
    url,
    /** As if the machine had lost its power: nothing is finished, the log is replayed. */
    crashAndRestart: () => control('-o', options, '-m', 'immediate', 'restart'),
    stop: async () => {
      await db.destroy()
      await control('-m', 'immediate', 'stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
