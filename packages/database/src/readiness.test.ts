import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
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
