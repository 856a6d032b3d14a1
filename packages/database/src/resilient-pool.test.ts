import { testDatabase } from '@market/testing/postgres'
import { asAdmin } from '@market/testing/template-database'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isOutage } from './outage.ts'
import { type Db, type Tx, transact } from './transact.ts'

const pidOf = async (db: Db | Tx): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

/** One connection, so that the next question must use the same one or a new one. */
async function oneConnection() {
  const broken = Promise.withResolvers<void>()
  const database = await testDatabase({ maxConnections: 1, onIdleError: () => broken.resolve() })
  onTestFinished(() => database.stop())
  return { db: database.db, isTold: broken.promise }
}

const terminate = (pid: number) => asAdmin((client) => client.query('select pg_terminate_backend($1)', [pid]))

describe('sturdy pool', () => {
  test('a connection ended in the middle of a transaction is not handed out again', async () => {
    const { db, isTold } = await oneConnection()
    let first = 0
    let attempts = 0
    const failing = transact(db, async (tx) => {
      attempts += 1
      first = await pidOf(tx)
      await terminate(first)
      await isTold
      await pidOf(tx)
    })
    const error: unknown = await failing.catch((reason: unknown) => reason)
    expect(isOutage(error)).toBe(true)
    expect(attempts).toBe(1)
    expect(await pidOf(db)).not.toBe(first)
  })

  test('a connection ended while a statement runs is not handed out again', async () => {
    const { db } = await oneConnection()
    let first = 0
    const failing = transact(db, async (tx) => {
      first = await pidOf(tx)
      const sleeping = sql`select pg_sleep(3)`.execute(tx)
      await Promise.all([sleeping, terminate(first)])
    })
    const error: unknown = await failing.catch((reason: unknown) => reason)
    expect(isOutage(error)).toBe(true)
    expect(await pidOf(db)).not.toBe(first)
  })

  test('after an outage the connection answers nothing more within its transaction', async () => {
    const { db } = await oneConnection()
    const failing = transact(db, async (tx) => {
      const pid = await pidOf(tx)
      await Promise.allSettled([sql`select pg_sleep(3)`.execute(tx), terminate(pid)])
      await expect(pidOf(tx)).rejects.toSatisfy(isOutage)
      throw new Error('seen')
    })
    await expect(failing).rejects.toThrow()
    expect(await pidOf(db)).toBeGreaterThan(0)
  })

  test('a connection whose answer is still on its way answers nobody else', async () => {
    const { db } = await oneConnection()
    let first = 0
    const failing = transact(db, async (tx) => {
      first = await pidOf(tx)
      await sql`set local statement_timeout = 0`.execute(tx)
      // The client gives up after five seconds; the server would answer after six.
      await expect(sql`select pg_sleep(6)`.execute(tx)).rejects.toThrow('Query read timeout')
      await pidOf(tx)
    })
    await expect(failing).rejects.toThrow('Query read timeout')
    expect(await pidOf(db)).not.toBe(first)
  })

  test('so it is outside a transaction', async () => {
    const { db } = await oneConnection()
    const first = await pidOf(db)
    await sql`set statement_timeout = 0`.execute(db)
    await expect(sql`select pg_sleep(6)`.execute(db)).rejects.toThrow('Query read timeout')
    expect(await pidOf(db)).not.toBe(first)
  })

  test('a connection that broke while idle is replaced', async () => {
    const { db, isTold } = await oneConnection()
    const first = await pidOf(db)
    await terminate(first)
    await isTold
    expect(await pidOf(db)).not.toBe(first)
  })

  test('a statement the server gave up leaves the connection in use', async () => {
    const { db } = await oneConnection()
    const first = await pidOf(db)
    const slow = transact(db, async (tx) => {
      await sql`set local statement_timeout = '50ms'`.execute(tx)
      await sql`select pg_sleep(3)`.execute(tx)
    })
    await expect(slow).rejects.toMatchObject({ code: '57014' })
    expect(await pidOf(db)).toBe(first)
  })
})
