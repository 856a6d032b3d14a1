import { endOldTransactions } from '@market/core/queue'
import { urlOfRole } from '@market/database/roles'
import { testDatabase } from '@market/testing/postgres'
import pg from 'pg'
import { expect, test } from 'vitest'

test('endOldTransactions: ends a session of the api that lifted its own timeouts, and no other one', async () => {
  const database = await testDatabase()
  const old = new pg.Client({ connectionString: urlOfRole(database.url, 'api') })
  const ended = new Promise((resolve) => old.on('error', resolve))
  const others = (['api', 'worker'] as const).map(
    (role) => new pg.Client({ connectionString: urlOfRole(database.url, role) }),
  )
  try {
    await old.connect()
    for (const other of others) await other.connect()
    // A transaction of the worker is as old, and a session of the api has none.
    await others[1]?.query('begin')
    for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await old.query(`set ${name} = 0`)
    await old.query('begin')
    await old.query('select now()')
    expect(await endOldTransactions(database)).toBe(0)
    await old.query('select pg_sleep(0.1)')
    expect(await endOldTransactions(database, 0.1)).toBe(1)
    expect(await ended).toMatchObject({ code: '57P01' })
    await expect(old.query('commit')).rejects.toThrow()
    for (const other of others) expect((await other.query('select 1')).rowCount).toBe(1)
  } finally {
    await old.end().catch(() => undefined)
    for (const other of others) await other.end()
    await database.stop()
  }
})

test('endOldTransactions: the worker may call it, the api may not', async () => {
  const database = await testDatabase()
  const run = async (role: 'api' | 'worker') => {
    const client = new pg.Client({ connectionString: urlOfRole(database.url, role) })
    await client.connect()
    try {
      await client.query(`select end_old_transactions('60 seconds')`)
      return 'done'
    } catch (error) {
      return (error as { code?: string }).code
    } finally {
      await client.end()
    }
  }
  try {
    expect([await run('worker'), await run('api')]).toEqual(['done', '42501'])
  } finally {
    await database.stop()
  }
})
