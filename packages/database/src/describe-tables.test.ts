import { readFileSync } from 'node:fs'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { describeTables } from './describe-tables.ts'

test('tables.ts is what the migrations make', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  const written = readFileSync(new URL('./tables.ts', import.meta.url), 'utf8')
  expect(await describeTables(database.url)).toBe(written)
})

test('a column of a type the application does not know is rejected, not guessed', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.stop())
  await sql`create table odd (price money)`.execute(database.db)
  await expect(describeTables(database.url)).rejects.toThrow('odd.price: no TypeScript type for money')
})
