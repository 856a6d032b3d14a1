import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { brokenConstraint, CommitThenReject, sqlStateOf, type Tx, transact } from './transact.ts'

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>

/** Resolves for all callers when `count` of them have called it. */
function barrier(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  return () => {
    left -= 1
    if (left === 0) resolve()
    return promise
  }
}

describe('transact', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.stop())
  beforeEach(async () => {
    await database.db.deleteFrom('users').execute()
    const at = new Date()
    const users = ['a', 'b'].map((id) => ({ idp_user_id: id, bio: '', created_at: at, updated_at: at }))
    await database.db.insertInto('users').values(users).execute()
  })

  const addTo = (tx: Tx, id: string, letter: string) =>
    tx
      .updateTable('users')
      .set((set) => ({ bio: sql<string>`${set.ref('bio')} || ${letter}` }))
      .where('idp_user_id', '=', id)
      .execute()

  const bios = async () => {
    const rows = await database.db.selectFrom('users').select('bio').orderBy('idp_user_id').execute()
    return rows.map((row) => [...(row.bio ?? '')].sort().join(''))
  }

  test('retries the victim of a deadlock, and both transactions commit once', async () => {
    const bothHoldOne = barrier(2)
    let attempts = 0
    const cross = (first: string, second: string, letter: string) => {
      let isFirstTry = true
      return transact(database.db, async (tx) => {
        attempts += 1
        // On a busy machine Postgres may find the deadlock later than the usual timeout of a lock.
        await sql`set local lock_timeout = '60s'`.execute(tx)
        await addTo(tx, first, letter)
        if (isFirstTry) {
          isFirstTry = false
          await bothHoldOne()
        }
        await addTo(tx, second, letter)
      })
    }
    await Promise.all([cross('a', 'b', 'x'), cross('b', 'a', 'y')])
    // The victim can take its first lock again before the other one wakes, and is a victim again.
    expect(attempts).toBeGreaterThanOrEqual(3)
    expect(await bios()).toEqual(['xy', 'xy'])
  })

  test('retries a serialization failure', async () => {
    let attempts = 0
    await transact(database.db, async (tx) => {
      attempts += 1
      if (attempts === 1) {
        // The isolation level can be changed before the first query.
        await sql`set transaction isolation level repeatable read`.execute(tx)
        await tx.selectFrom('users').select('bio').execute()
        await transact(database.db, (other) => addTo(other, 'a', 'o'))
      }
      await addTo(tx, 'a', 't')
    })
    expect(attempts).toBe(2)
    expect(await bios()).toEqual(['ot', ''])
  })

  test('throws after four attempts of a permanent conflict, and commits nothing', async () => {
    let attempts = 0
    const failing = transact(database.db, async (tx) => {
      attempts += 1
      await addTo(tx, 'a', 'z')
      await sql`do $$ begin raise exception 'conflict' using errcode = '40001'; end $$`.execute(tx)
    })
    await expect(failing).rejects.toMatchObject({ code: '40001' })
    expect(attempts).toBe(4)
    expect(await bios()).toEqual(['', ''])
  })

  test('rolls back at once on any other error', async () => {
    let attempts = 0
    const fault = new Error('test error')
    const failing = transact(database.db, async (tx) => {
      attempts += 1
      await addTo(tx, 'a', 'z')
      throw fault
    })
    await expect(failing).rejects.toBe(fault)
    expect(attempts).toBe(1)
    expect(await bios()).toEqual(['', ''])
  })

  test('CommitThenReject: commits the changes and throws the error', async () => {
    const fault = new Error('test error')
    const rejecting = transact(database.db, async (tx) => {
      await addTo(tx, 'a', 'z')
      return new CommitThenReject(fault)
    })
    await expect(rejecting).rejects.toBe(fault)
    expect(await bios()).toEqual(['z', ''])
  })

  test('brokenConstraint returns the name of the constraint', async () => {
    const at = new Date()
    const twice = { idp_user_id: 'a', created_at: at, updated_at: at }
    const error: unknown = await database.db
      .insertInto('users')
      .values(twice)
      .execute()
      .catch((reason: unknown) => reason)
    expect(brokenConstraint(error)).toBe('users_pkey')
    expect(sqlStateOf(error)).toBe('23505')
  })

  test.each([undefined, null, 'users_pkey', new Error('x'), { constraint: 'users_pkey' }])(
    'no constraint is read from %s',
    (error) => {
      expect(brokenConstraint(error)).toBeUndefined()
      expect(sqlStateOf(error)).toBeUndefined()
    },
  )
})
