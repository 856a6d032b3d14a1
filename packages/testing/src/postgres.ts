import { type ConnectSettings, connect } from '@market/database/connect'
import type { Db } from '@market/database/transact'
import {
  asAdmin,
  databaseUrl,
  dropTestDatabase,
  ensureTemplate,
  newTestDatabaseName,
} from './template-database.ts'

export interface TestDatabase {
  readonly db: Db
  readonly url: string
  readonly name: string
  stop(): Promise<void>
}

/** The timeouts of the product would end statements that only wait for a busy machine. */
export const TIMEOUT_FACTOR = 20

/** Creates a database for one test file from the migrated template. It is dropped after the file ends. */
export async function testDatabase(settings: Partial<ConnectSettings> = {}): Promise<TestDatabase> {
  const template = await ensureTemplate()
  const name = newTestDatabaseName()
  await asAdmin(async (client) => {
    // Copies files. The other way writes every page to the log as well, which takes twice the processor time.
    await client.query(`create database ${name} template ${template} strategy file_copy`)
    // A copy does not inherit the database settings of the migrations.
    await client.query(`alter database ${name} set jit = off`)
  })
  const url = databaseUrl(name)
  const db = connect({ timeoutFactor: TIMEOUT_FACTOR, ...settings, url })
  return {
    db,
    url,
    name,
    stop: async () => {
      await db.destroy()
      dropTestDatabase(name)
    },
  }
}
