import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { POSTGRES_URL } from '@market/testing/template-database'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from './connect.ts'
import { requireDurableCommits } from './ping.ts'
import { createRoles, type RoleName, urlOfRole } from './roles.ts'

const DENIED = '42501'

let database: TestDatabase
const clients: Partial<Record<RoleName, pg.Client>> = {}
beforeAll(async () => {
  database = await testDatabase()
  for (const role of ['api', 'worker'] as const) {
    const client = new pg.Client({ connectionString: urlOfRole(database.url, role) })
    await client.connect()
    clients[role] = client
  }
})
afterAll(async () => {
  for (const client of Object.values(clients)) await client.end()
  await database.stop()
})

/** Undefined when the statement succeeds, otherwise its SQLSTATE. It changes nothing. */
async function run(role: RoleName, statement: string): Promise<string | undefined> {
  const client = clients[role]
  await client?.query('begin')
  try {
    await client?.query(statement)
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    await client?.query('rollback')
  }
}

const forgedPayout = (state: string, { nonce = 'null', kind = 'payout', purpose = 'null' } = {}) => `
  insert into payouts (id, network, kind, subject, purpose, payee, amount_micros, state, nonce, final_reference,
    created_at, updated_at, due_at)
  values ('pay_${'0'.repeat(32)}', 'base-mainnet', '${kind}', 'x', ${purpose}, '0x${'1'.repeat(40)}', 1000000, '${state}',
    ${nonce}, ${state === 'final' ? `'0x1'` : 'null'}, now(), now(), now())`

describe('the role of the api', () => {
  test.each([
    ['queued', { nonce: 'null' }],
    ['queued', { kind: 'refund' }],
    ['queued', { nonce: '7', purpose: `'order:a'` }],
    ['nonce_assigned', { nonce: '7', purpose: `'order:a'` }],
    ['signed', { nonce: '7', purpose: `'order:a'` }],
    ['final', { purpose: `'order:a'` }],
  ])('payouts: cannot insert a payout that is %s with %o', async (state, fields) => {
    expect(await run('api', forgedPayout(state, fields))).toBe(DENIED)
    expect(await run('worker', forgedPayout(state, fields))).toBeUndefined()
  })

  test.each([
    'delete from payouts',
    'update payout_signatures set bytes = bytes',
    `insert into payout_nonces (network, treasury, next_nonce) values ('base-mainnet', '0x', 1)`,
    'update payout_guards set compared_at = now(), short_micros = 0',
    'update outgoing_transfers set is_final = true',
    'delete from reserve_snapshots',
    'update ledger_accounts set balance_micros = 1',
    'delete from ledger_moves',
    'delete from audit_log',
    'alter table ledger_accounts disable trigger user',
    'create table mine (id text)',
    `select make_month('events', date '2001-01-01')`,
    `select drop_month('events_200101')`,
    `select graphile_worker.add_job('deliver-events')`,
    `select enqueue_job('other-task', '{}', 1, now(), 'k', 'replace')`,
    `insert into migrations (name, checksum) values ('x', 'x')`,
  ])('cannot run: %s', async (statement) => {
    expect(await run('api', statement)).toBe(DENIED)
  })

  test('a trigger on a temporary table cannot write a balance', async () => {
    const statement = `
      create temporary table own (n integer);
      create function pg_temp.enrich() returns trigger language plpgsql as
        'begin update public.ledger_accounts set balance_micros = balance_micros + 1; return new; end';
      create trigger own_enrich before insert on own for each row execute function pg_temp.enrich();
      insert into own values (1)`
    expect(await run('api', statement)).toBe(DENIED)
  })

  test('can request a payout of a purpose and enqueue the delivery of events', async () => {
    expect(await run('api', forgedPayout('queued', { purpose: `'order:a'` }))).toBeUndefined()
    expect(
      await run('api', `select enqueue_job('deliver-events', '{}', 1, now(), 'k', 'replace')`),
    ).toBeUndefined()
  })
})

describe('the role of the worker', () => {
  test.each([
    'update ledger_accounts set balance_micros = 1',
    'delete from ledger_journals',
    'delete from payouts',
    'alter table ledger_accounts disable trigger user',
    'create table mine (id text)',
    `select drop_month('orders')`,
  ])('cannot run: %s', async (statement) => {
    expect(await run('worker', statement)).toBe(DENIED)
  })

  test('can create and drop partitions and read the jobs', async () => {
    expect(
      await run(
        'worker',
        `select make_month('events', date '2001-01-01'); select drop_month('events_200101')`,
      ),
    ).toBeUndefined()
    expect(await run('worker', `select make_month('ledger_moves', date '2001-01-01')`)).toBeUndefined()
    await clients.worker?.query(`select enqueue_job('deliver-events', '{}', 1, now(), 'k', 'replace')`)
    const { rowCount } = (await clients.worker?.query('select from graphile_worker._private_jobs')) ?? {}
    expect(rowCount).toBe(1)
  })
})

test('createRoles: can run many times at once, and sets the timeouts and synchronous_commit', async () => {
  await Promise.all(Array.from({ length: 4 }, () => createRoles(POSTGRES_URL)))
  for (const role of ['api', 'worker'] as const) {
    const show = async (name: string) =>
      Object.values((await clients[role]?.query(`show ${name}`))?.rows[0] ?? {})[0]
    expect(await show('synchronous_commit')).toBe('on')
    expect(await show('statement_timeout')).toBe('4s')
    expect(await show('lock_timeout')).toBe('2s')
    expect(await show('idle_in_transaction_session_timeout')).toBe('10s')
  }
})

test('requireDurableCommits: rejects synchronous_commit = off, and ignores an unreachable server', async () => {
  await requireDurableCommits(database.db)
  const unsafe = connect({ url: database.url, withoutFlush: true })
  const away = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  try {
    await expect(requireDurableCommits(unsafe)).rejects.toThrow('synchronous_commit is off')
    await requireDurableCommits(away)
  } finally {
    await unsafe.destroy()
    await away.destroy()
  }
})
