import { connect } from '@market/database/connect'
import { testClock } from '@market/testing/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { databaseUrl } from '@market/testing/template-database'
import { expect, test } from 'vitest'
import { HOUSE_SWEEPS, startSweeps } from './sweeps.ts'

const NAMES = [
  'apply-due-transitions',
  'delete-old-requests',
  'delete-old-signatures',
  'delete-replaced-jobs',
  'enqueue-overdue-deliveries',
  'maintain-delivery-partitions',
  'maintain-event-partitions',
  'maintain-ledger-partitions',
  'retry-failed-jobs',
]

function sweepWith(ctx: MarketContext) {
  const failed: string[] = []
  const logged: object[] = []
  const log = { error: (fields: object) => void logged.push(fields) }
  return { failed, logged, sweeps: startSweeps(ctx, HOUSE_SWEEPS, log, (name) => failed.push(name)) }
}

test('every sweep begins at once, and the end waits for those that run', async () => {
  const database = await testDatabase()
  try {
    const ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T00:00:00Z')) })
    const { sweeps, failed } = sweepWith(ctx)
    await sweeps.stop()
    expect(failed).toEqual([])
    const names = (await database.db.introspection.getTables()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['events_203101', 'deliveries_203101']))
  } finally {
    await database.stop()
  }
})

test('two workers that sweep at once do not fail each other', async () => {
  const database = await testDatabase()
  try {
    const ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T00:00:00Z')) })
    const workers = Array.from({ length: 4 }, () => sweepWith(ctx))
    await Promise.all(workers.map(({ sweeps }) => sweeps.stop()))
    expect(workers.flatMap(({ failed, logged }) => [...failed, ...logged])).toEqual([])
  } finally {
    await database.stop()
  }
})

test('a sweep that fails is counted and logged by name, and ends nothing', async () => {
  const db = connect({ url: databaseUrl('market_no_such_database') })
  const { sweeps, failed, logged } = sweepWith(marketContext({ db }))
  await sweeps.stop()
  expect(failed.toSorted()).toEqual(NAMES)
  expect(logged).toHaveLength(NAMES.length)
  for (const fields of logged) expect(fields).toMatchObject({ err: expect.any(Error) })
})
