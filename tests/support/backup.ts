import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import {
  asAdmin,
  databaseUrl,
  dropTestDatabase,
  newTestDatabaseName,
} from '@market/testing/template-database'

const run = promisify(execFile)

export interface RestoredDatabase {
  readonly url: string
  readonly db: Db
  readonly stop: () => Promise<void>
}

/** Makes a backup as the runbook says. The result restores it into a new database. */
export async function backUp(url: string): Promise<() => Promise<RestoredDatabase>> {
  const folder = mkdtempSync(join(tmpdir(), 'market-backup-'))
  const file = join(folder, 'market.dump')
  await run('pg_dump', ['--format=custom', '--no-owner', `--file=${file}`, url])
  return async () => {
    const name = newTestDatabaseName()
    await asAdmin((client) => client.query(`create database ${name}`))
    const restored = databaseUrl(name)
    await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored}`, file])
    rmSync(folder, { recursive: true, force: true })
    const db = connect({ url: restored, timeoutFactor: 20 })
    const stop = async () => {
      await db.destroy()
      dropTestDatabase(name)
    }
    return { url: restored, db, stop }
  }
}
