import { testDatabase } from '@market/testing/postgres'
import { asAdmin } from '@market/testing/template-database'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isOutage } from './outage.ts'
import { type Db, readAtOnce, type Tx, transact } from './transact.ts'

const pidOf = async (db: Db | Tx): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

/** One connection, so that the next query uses the same one or a new one. */
async function oneConnection() {
  const broken = Promise.withResolvers<void>()
  const database = await testDatabase({
    maxConnections: 1,
    timeoutFactor: 1,
    onIdleError: () => broken.resolve(),
  })
  onTestFinished(() => database.stop())
  return { db: database.db, isTold: broken.promise }
}

const terminate = (pid: number) => asAdmin((client) => client.query('select pg_terminate_backend($1)', [pid]))

describe('connections after an outage', () => {
  test('a connection that ended within a transaction is not reused', async () => {
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

  test('a connection that ended during a statement is not reused', async () => {
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

  test('after an outage the connection rejects further queries of the transaction', async () => {
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

  test('a connection with an outstanding response is not used for other queries', async () => {
    const { db } = await oneConnection()
    let first = 0
    const failing = transact(db, async (tx) => {
      first = await pidOf(tx)
      await sql`set local statement_timeout = 0`.execute(tx)
      // The client times out after five seconds. The server would respond after six.
      await expect(sql`select pg_sleep(6)`.execute(tx)).rejects.toThrow('Query read timeout')
      await pidOf(tx)
    })
    await expect(failing).rejects.toThrow('Query read timeout')
    expect(await pidOf(db)).not.toBe(first)
  })

  test('the same applies outside a transaction', async () => {
    const { db } = await oneConnection()
    const first = await pidOf(db)
    await sql`set statement_timeout = 0`.execute(db)
    await expect(sql`select pg_sleep(6)`.execute(db)).rejects.toThrow('Query read timeout')
    expect(await pidOf(db)).not.toBe(first)
  })

  test('an idle connection that broke is replaced', async () => {
    const { db, isTold } = await oneConnection()
    const first = await pidOf(db)
    await terminate(first)
    await isTold
    expect(await pidOf(db)).not.toBe(first)
  })

  test('a connection is reused after the server cancelled a statement', async () => {
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

/** One connection whose statements are prepared, with the errors of those that were lost. */
async function prepared(settings: { pipeline?: boolean } = {}) {
  const lost: string[] = []
  const database = await testDatabase({
    ...settings,
    maxConnections: 1,
    preparedStatements: 'all',
    onLostStatement: (error) => lost.push(error.message),
  })
  onTestFinished(() => database.stop())
  const names = async () => {
    const { rows } = await sql<{ name: string }>`
      select name from pg_prepared_statements where statement = 'select 1 as one'`.execute(database.db)
    return rows.map((row) => row.name)
  }
  return { db: database.db, lost, names }
}

const one = async (db: Db | Tx): Promise<number | undefined> =>
  (await sql<{ one: number }>`select 1 as one`.execute(db)).rows[0]?.one

describe('prepared statements', () => {
  test('the same text has the same name on every connection and in every process', async () => {
    const [first, second] = [await prepared(), await prepared()]
    for (const { db } of [first, second]) for (let n = 0; n < 3; n++) expect(await one(db)).toBe(1)
    const names = await first.names()
    expect(names).toEqual([expect.stringMatching(/^market_[0-9a-f]{32}$/)])
    expect(await second.names()).toEqual(names)
  })

  test('with in_transactions a statement outside a transaction is not prepared', async () => {
    const database = await testDatabase({ maxConnections: 1, preparedStatements: 'in_transactions' })
    onTestFinished(() => database.stop())
    const count = async () =>
      (await sql<{ n: number }>`select count(*)::int as n from pg_prepared_statements`.execute(database.db))
        .rows
    await one(database.db)
    expect(await count()).toEqual([{ n: 0 }])
    await transact(database.db, one)
    expect(await count()).toEqual([{ n: 1 }])
  })

  test('a statement that the server lost runs unnamed, and none is prepared from then on', async () => {
    const { db, lost, names } = await prepared()
    await one(db)
    await sql`deallocate all`.execute(db)
    expect(await one(db)).toBe(1)
    expect(await one(db)).toBe(1)
    expect(lost).toEqual([expect.stringContaining('does not exist')])
    expect(await names()).toEqual([])
  })

  test('a name that another client of a pooler already used runs unnamed', async () => {
    const [first, second] = [await prepared(), await prepared()]
    await one(first.db)
    const [name] = await first.names()
    await sql`prepare ${sql.id(name ?? '')} as select 1 as one`.execute(second.db)
    expect(await one(second.db)).toBe(1)
    expect(second.lost).toEqual([expect.stringContaining('already exists')])
  })

  test('a transaction that lost a statement runs again and commits once', async () => {
    const { db, lost } = await prepared()
    await sql`create table counted (n int)`.execute(db)
    const insert = (tx: Tx) => sql`insert into counted values (1)`.execute(tx)
    await transact(db, insert)
    await sql`deallocate all`.execute(db)
    let attempts = 0
    await transact(db, async (tx) => {
      attempts += 1
      await insert(tx)
    })
    expect({ attempts, lost: lost.length }).toEqual({ attempts: 2, lost: 1 })
    expect((await sql`select n from counted`.execute(db)).rows).toHaveLength(2)
  })

  test('a snapshot read that lost a statement runs again', async () => {
    const { db, lost } = await prepared()
    await readAtOnce(db, one)
    await sql`deallocate all`.execute(db)
    expect(await readAtOnce(db, one)).toBe(1)
    expect(lost).toHaveLength(1)
  })

  test('a migration that changes the columns of a prepared statement does not make it fail', async () => {
    const { db, lost } = await prepared()
    const read = (tx: Tx) => sql`select * from switches limit 1`.execute(tx)
    await transact(db, read)
    await sql`alter table switches add column added text`.execute(db)
    await transact(db, read)
    expect(lost).toEqual([expect.stringContaining('cached plan')])
  })
})

describe.each([{ pipeline: true }, { pipeline: false }])(
  'transactions with pipelining: $pipeline',
  (settings) => {
    test('the first statement is part of the transaction, for reads and writes', async () => {
      const { db } = await prepared(settings)
      await sql`create table counted (n int)`.execute(db)
      for (const first of [sql`insert into counted values (1)`, sql`select * from counted for update`]) {
        const failing = transact(db, async (tx) => {
          await first.execute(tx)
          await sql`insert into counted values (2)`.execute(tx)
          throw new Error('rolled back')
        })
        await expect(failing).rejects.toThrow('rolled back')
        expect((await sql`select n from counted`.execute(db)).rows).toEqual([])
      }
    })

    test('a first statement that fails leaves a usable connection and no open transaction', async () => {
      const { db } = await prepared(settings)
      const pid = await pidOf(db)
      const failing = transact(db, (tx) => sql`select 1 / 0`.execute(tx))
      await expect(failing).rejects.toMatchObject({ code: '22012' })
      await transact(db, async () => {})
      expect(await pidOf(db)).toBe(pid)
    })
  },
)
