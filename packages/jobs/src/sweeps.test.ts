import { record } from '@market/core/audit'
import type { ReserveSigner } from '@market/core/ports/reserve-anchor'
import { connect } from '@market/database/connect'
import { usdc } from '@market/kernel/money'
import { testClock } from '@market/testing/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { databaseUrl } from '@market/testing/template-database'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sweepEngine } from './start-sweeps.ts'
import { SWEEPS } from './sweeps.ts'

/** These iterate over the networks, of which there are none here, and do not read the database otherwise. */
const PER_NETWORK = [
  'advance-payouts',
  'check-gas',
  'check-reserves',
  'decide-finality',
  'read-agent-wallets',
  'read-new-blocks',
  'recheck-transfers',
  'send-unmined',
  'submit-payouts',
]
const NAMES = SWEEPS.map(({ name }) => name)
  .filter((name) => !PER_NETWORK.includes(name))
  .toSorted()

const NO_HANDLER = {
  onConfirmed: async () => 'confirmed' as const,
  onFailed: async () => {},
  onReversed: async () => {},
}

const SIGNER: ReserveSigner = {
  network: 'base-mainnet',
  treasury: `0x${'ab'.repeat(20)}`,
  sign: () => Promise.reject(new Error('there is no text to sign')),
}

/** Runs every sweep once, all at the same time. */
async function runAll(ctx: MarketContext) {
  const failed: string[] = []
  const logged: object[] = []
  const events: object[] = []
  const log = { error: (fields: object) => void logged.push(fields) }
  const sweepContext = {
    ...ctx,
    purposes: {
      order: NO_HANDLER,
      purchase: NO_HANDLER,
      registration: NO_HANDLER,
      bounty: NO_HANDLER,
      earn_deposit: NO_HANDLER,
    },
    venues: {},
    caps: { perPayout: usdc(1n) },
    recordGas: () => {},
    reserveAnchors: {},
    reserveSigners: { 'base-mainnet': SIGNER },
    advancePayouts: async () => {},
    submitPayouts: async () => {},
    countDisagreement: () => {},
    recordAudit: () => {},
    exporter: { sealTo: async () => '' },
    walletCaps: { SOL: 0n, USDC: 0n },
    operationListener: { onDone: async () => {} },
    onSecurityEvent: (event: object, level: string) => void events.push({ level, ...event }),
  }
  const { tasks } = sweepEngine({
    ctx: sweepContext,
    sweeps: SWEEPS,
    log,
    onFailure: (name) => failed.push(name),
  })
  await Promise.all(SWEEPS.map(({ name }) => tasks[name]?.({}, undefined as never)))
  return { failed, logged, events }
}

test('every sweep runs, all at the same time', async () => {
  const database = await testDatabase()
  try {
    const ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T00:00:00Z')) })
    const { failed } = await runAll(ctx)
    expect(failed).toEqual([])
    const names = (await database.db.introspection.getTables()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['events_203101', 'deliveries_203101']))
  } finally {
    await database.stop()
  }
})

test('concurrent sweeps of four workers do not fail', async () => {
  const database = await testDatabase()
  try {
    const ctx = marketContext({ db: database.db, clock: testClock(new Date('2031-01-15T00:00:00Z')) })
    const workers = await Promise.all(Array.from({ length: 4 }, () => runAll(ctx)))
    expect(workers.flatMap(({ failed, logged }) => [...failed, ...logged])).toEqual([])
  } finally {
    await database.stop()
  }
})

test('a sweep that fails is counted and logged, and the others run', async () => {
  const db = connect({ url: databaseUrl('market_no_such_database') })
  const { failed, logged } = await runAll(marketContext({ db }))
  expect(failed.toSorted()).toEqual(NAMES)
  expect(logged).toHaveLength(NAMES.length)
  for (const fields of logged) expect(fields).toMatchObject({ err: expect.any(Error) })
})

test('verify-audit: exports the head of an intact log, and reports the first entry that was changed', async () => {
  const database = await testDatabase()
  try {
    const ctx = marketContext({ db: database.db, actor: { kind: 'admin_key', name: 'ops' } })
    for (const act of ['first', 'second'])
      await ctx.transact((tx) => record(ctx, tx, { act, subject: 'thing' }))
    const intact = await runAll(ctx)
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(intact.events).toEqual([{ level: 'info', event: 'audit.head', seq: '2', hash }])
    expect(intact.logged).toEqual([])
    await sql`alter table audit_log disable trigger audit_log_append_only`.execute(database.db)
    await sql`update audit_log set actor = 'somebody' where seq = 1`.execute(database.db)
    const changed = await runAll(ctx)
    expect(changed.events).toEqual([
      { level: 'error', event: 'audit.broken', broken_at: '1', seq: '2', hash },
    ])
  } finally {
    await database.stop()
  }
})
