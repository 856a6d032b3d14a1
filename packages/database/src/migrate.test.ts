import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import pg from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { migrate } from './migrate.ts'
import { latestMigration, readMigrations } from './migrations.ts'

let url: string
beforeEach(async () => {
  const name = `market_test_${randomBytes(6).toString('hex')}`
  await asAdmin((client) => client.query(`create database ${name}`))
  url = databaseUrl(name)
  return () =>
    asAdmin(async (client) => void (await client.query(`drop database if exists ${name} with (force)`)))
})

const ask = async <T extends object>(statement: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(statement)).rows
  } finally {
    await client.end()
  }
}

const migrationsOf = (files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), 'market-migrations-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return readMigrations(folder)
}

const isThere = async (table: string): Promise<boolean> => {
  const [row] = await ask<{ there: boolean }>(`select to_regclass('${table}') is not null as there`)
  return row?.there === true
}

describe('migrate', () => {
  test('applies the files in order, and does nothing when run again', async () => {
    const files = migrationsOf({
      '0002_second.sql': 'alter table things add column more text',
      '0001_first.sql': 'create table things (id int); create table others (id int)',
      'notes.txt': 'not a migration',
      '3_short.sql': 'select nonsense',
    })
    expect(await migrate(url, files)).toEqual(['0001_first', '0002_second'])
    expect(await migrate(url, files)).toEqual([])
    expect(await isThere('others')).toBe(true)
  })

  test('a migrated database has JIT compilation turned off', async () => {
    await migrate(url)
    expect(await ask<{ jit: string }>('show jit')).toEqual([{ jit: 'off' }])
  })

  test('runs the statements of a file outside a transaction one by one, and repeats them after a failure', async () => {
    const table = { '0001_first.sql': 'create table things (id int)' }
    const index = (column: string) =>
      `-- outside a transaction\ndrop index concurrently if exists things_id;\ncreate index concurrently things_id on things (${column});\n`
    await expect(
      migrate(url, migrationsOf({ ...table, '0002_index.sql': index('missing') })),
    ).rejects.toThrow('Migration 0002_index failed')
    expect(await migrate(url, migrationsOf({ ...table, '0002_index.sql': index('id') }))).toEqual([
      '0002_index',
    ])
    expect(await isThere('things_id')).toBe(true)
  })

  test('waits for a lock in short attempts, so that others are not stopped behind it', async () => {
    const files = { '0001_first.sql': 'create table things (id int)' }
    await migrate(url, migrationsOf(files))
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('insert into things values (1)')
    const migrating = migrate(
      url,
      migrationsOf({ ...files, '0002_more.sql': 'alter table things add column more text' }),
    )
    const isWaiting = async () =>
      (
        await ask(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table things%'`,
        )
      ).length > 0
    while (!(await isWaiting()));
    // Gives its place in the queue up after a second.
    while (await isWaiting());
    await holder.query('commit')
    await holder.end()
    expect(await migrating).toEqual(['0002_more'])
  })

  test('applies a new file after the old ones', async () => {
    const first = migrationsOf({ '0001_first.sql': 'create table things (id int)' })
    await migrate(url, first)
    const second = migrationsOf({
      '0001_first.sql': 'create table things (id int)',
      '0002_second.sql': 'create table others (id int)',
    })
    expect(await migrate(url, second)).toEqual(['0002_second'])
  })

  test('rejects a file that was changed after it was applied, and applies no later file', async () => {
    await migrate(url, migrationsOf({ '0001_first.sql': 'create table things (id int)' }))
    const changed = migrationsOf({
      '0001_first.sql': 'create table things (id bigint)',
      '0002_second.sql': 'create table others (id int)',
    })
    await expect(migrate(url, changed)).rejects.toThrow('0001_first was changed')
    expect(await isThere('others')).toBe(false)
  })

  test('rejects a database that other files made, and accepts one with later files', async () => {
    const files = { '0001_core.sql': 'create table things (id int)', '0003_orders.sql': 'select 1' }
    await migrate(url, migrationsOf({ ...files, '0002_requests.sql': 'select 2' }))
    await expect(migrate(url, migrationsOf(files))).rejects.toThrow(
      'The database has migration 0002_requests, which this version does not have. Drop the database',
    )
    expect(await migrate(url, migrationsOf({ '0001_core.sql': files['0001_core.sql'] }))).toEqual([])
  })

  test('rolls back a failing file, keeps the earlier ones, and applies the corrected file', async () => {
    const broken = migrationsOf({
      '0001_first.sql': 'create table things (id int)',
      '0002_second.sql': 'create table others (id int); select nonsense',
    })
    await expect(migrate(url, broken)).rejects.toThrow('0002_second failed')
    expect([await isThere('things'), await isThere('others')]).toEqual([true, false])
    const mended = migrationsOf({
      '0001_first.sql': 'create table things (id int)',
      '0002_second.sql': 'create table others (id int)',
    })
    expect(await migrate(url, mended)).toEqual(['0002_second'])
  })

  test('concurrent migrations apply each file once', async () => {
    const files = migrationsOf({
      '0001_first.sql': 'create table things (id int); select pg_sleep(0.2)',
      '0002_second.sql': 'insert into things values (1)',
    })
    const done = await Promise.all([migrate(url, files), migrate(url, files), migrate(url, files)])
    expect(done.flat().sort()).toEqual(['0001_first', '0002_second'])
    expect(await ask('select id from things')).toEqual([{ id: 1 }])
  })

  test('applies all migrations of the application to an empty database', async () => {
    const done = await migrate(url)
    expect(done.at(-1)).toBe(latestMigration())
    expect(done).toEqual([...done].sort())
    expect(await migrate(url)).toEqual([])
  })
})
