import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testDatabase } from '@market/testing/postgres'
import { startPostgresServer } from '@market/testing/postgres-server'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { connect } from './connect.ts'
import { migrate } from './migrate.ts'
import { isOutage } from './outage.ts'
import { readiness } from './readiness.ts'

const noLog = { info: () => {}, error: () => {} }

test('readiness: ready with the newest migration; the database is asked once a second', async () => {
  const { db, stop } = await testDatabase()
  try {
    const queries: string[] = []
    const watched = db.withPlugin({
      transformQuery: ({ node }) => {
        queries.push(node.kind)
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const whyNotReady = readiness(watched, noLog)
    expect(await Promise.all(Array.from({ length: 50 }, whyNotReady))).toEqual(Array(50).fill(undefined))
    expect(queries).toHaveLength(1)
  } finally {
    await stop()
  }
})

test('readiness: a response that is late is logged as what it says, not as an outage', async () => {
  const { db, stop } = await testDatabase()
  try {
    const logged: string[] = []
    const log = {
      info: (_: object, text: string) => logged.push(text),
      error: (_: object, text: string) => logged.push(text),
    }
    const late = db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        return result
      },
    })
    expect(await readiness(late, log)()).toBe('database unreachable')
    expect(logged).toEqual([])
    await vi.waitFor(() => expect(logged).toEqual(['ready']), { timeout: 60_000 })
  } finally {
    await stop()
  }
})

test('readiness: names the missing migration, or that all are missing, and the command that applies them', async () => {
  const { db, stop } = await testDatabase()
  try {
    expect(await readiness(db, noLog, '9999_later')()).toBe(
      'the database does not have migration 9999_later: run npm run db:migrate, or node dist/bin/migrate.mjs',
    )
    await sql`drop table migrations`.execute(db)
    expect(await readiness(db, noLog)()).toBe(
      'the database has no tables: run npm run db:migrate, or node dist/bin/migrate.mjs',
    )
  } finally {
    await stop()
  }
})

test('readiness: a standby is not ready and its errors are an outage, until it is promoted', async () => {
  const server = await startPostgresServer([])
  await migrate(server.url)
  writeFileSync(join(server.data, 'standby.signal'), '')
  await server.crashAndRestart()
  const db = connect({ url: server.url, timeoutFactor: 20 })
  try {
    expect(await readinessSoon(db)).toBe(
      'the database is a standby and rejects writes: promote it, or set DATABASE_URL to the primary',
    )
    const written = await sql`delete from switches`.execute(db).catch((error: unknown) => error)
    expect(written).toMatchObject({ code: '25006' })
    expect(isOutage(written)).toBe(true)
    await sql`select pg_promote()`.execute(db)
    expect(await readinessSoon(db)).toBeUndefined()
  } finally {
    await db.destroy()
    await server.stop()
  }
})

/** Connects first: opening a connection counts to the time that the answer may take. */
async function readinessSoon(db: Parameters<typeof readiness>[0]): Promise<string | undefined> {
  await sql`select 1`.execute(db)
  return readiness(db, noLog)()
}
