import { readFileSync } from 'node:fs'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { describeTables } from './describe-tables.ts'

test('tables.ts matches the migrations', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  const written = readFileSync(new URL('./tables.ts', import.meta.url), 'utf8')
  expect(await describeTables(database.url)).toBe(written)
})

test('rejects a column with an unknown type', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  await sql`create table odd (price money)`.execute(database.db)
  await expect(describeTables(database.url)).rejects.toThrow('odd.price: no TypeScript type for money')
})
