import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { withoutFlush } from './without-flush.ts'

test('withoutFlush: only the commit of its own transaction does not wait for the disk', async () => {
  const { db, stop } = await testDatabase()
  const settingOf = async (on: Parameters<ReturnType<typeof sql>['execute']>[0]) =>
    (await sql<{ setting: string }>`select current_setting('synchronous_commit') as setting`.execute(on)).rows
  const inside = await db.transaction().execute(async (tx) => {
    await sql`select 1 where ${withoutFlush}`.execute(tx)
    return settingOf(tx)
  })
  expect(inside).toEqual([{ setting: 'off' }])
  expect(await settingOf(db)).toEqual([{ setting: 'on' }])
  await stop()
})
