import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { postgresUrl } from '@market/testing/template-database'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** Undefined when the statement and its checks at the commit succeed, otherwise the SQLSTATE. It changes nothing. */
async function run(role: RoleName, statement: string): Promise<string | undefined> {
  const client = clients[role]
  await client?.query('begin')
  try {
    await client?.query(statement)
    await client?.query('set constraints all immediate')
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    await client?.query('rollback')
  }
}

const forgedPayout = (state: string, { kind = 'payout', purpose = 'null' } = {}) => `
  insert into payouts (id, network, kind, subject, purpose, payee, amount_micros, state, final_reference,
    created_at, updated_at, due_at)
  values ('pay_${'0'.repeat(32)}', 'base-mainnet', '${kind}', 'x', ${purpose}, '0x${'1'.repeat(40)}', 1000000, '${state}',
    ${state === 'final' ? `'0x1'` : 'null'}, now(), now(), now())`

describe('the role of the api', () => {
  test.each([
    ['queued', {}],
    ['queued', { kind: 'refund' }],
    ['signed', { purpose: `'order:a'` }],
    ['final', { purpose: `'order:a'` }],
  ])('payouts: cannot insert a payout that is %s with %o', async (state, fields) => {
    expect(await run('api', forgedPayout(state, fields))).toBe(DENIED)
    expect(await run('worker', forgedPayout(state, fields))).toBeUndefined()
  })

  test.each([
    'delete from payouts',
    'update payouts set mark_round = mark_round + 1',
    'update payout_signatures set valid_to = 0',
    'select bytes from payout_signatures',
    'select reference from payout_batches',
    `insert into payout_treasuries (network, treasury) values ('base-mainnet', '0x${'1'.repeat(40)}')`,
    'update payout_counters set capped_micros = 0',
    `insert into payout_counters (network, scope, hour) values ('base-mainnet', '*', '2026-01-01T00:00:00Z')`,
    'delete from payout_counters',
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
    'select secret_sealed from agent_wallets',
    'update agent_wallets set secret_sealed = secret_sealed',
    `update agent_wallets set address = 'mine'`,
    'delete from agent_wallets',
    'update statistics set value = 1',
    'update agent_statistics set completed_micros = 1',
    'update statistic_changes set amount = 1',
    'delete from statistic_changes',
    'delete from creator_fees',
    'update creator_fees set agent_lamports = 1',
    `update creator_fees set source_tx = 'x'`,
  ])('cannot run: %s', async (statement) => {
    expect(await run('api', statement)).toBe(DENIED)
  })

  test('writes off and pairs an outgoing transfer; a pair without a time is rejected', async () => {
    const reference = `0x${'1'.repeat(64)}`
    const columns = `written_off_at = now(), paired_with = '${reference}'`
    expect(await run('api', `update outgoing_transfers set ${columns}`)).toBeUndefined()
    const row = `insert into outgoing_transfers (network, reference, transfer_index, amount_micros, block_height, block_hash,
      happened_at, is_final, paired_with, created_at)
      values ('base-mainnet', '${reference}', 0, 1, 1, '0x1', now(), true, '${reference}', now())`
    expect(await run('worker', row)).toBe('23514')
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

  const WALLET = '0x1111111111111111111111111111111111111111'
  const agent = (owner: string | null) => `
    insert into agents (id, name, name_skeleton, written_skeleton, slug, description, capabilities, ai_models, owner_wallet,
      api_key_fingerprint, api_key_sealed, api_key_hint, created_at, updated_at)
    values ('agt_1_${'0'.repeat(17)}', 'Agent', 'agent', 'agent', 'agent', 'An agent of a test.', '{}', '{}', ${owner},
      decode(repeat('00', 32), 'hex'), '\\x00', 'abcd', now(), now());`
  const PENDING = `update agents set pending_payout_address_base = '${WALLET}', pending_payout_since = now(),
    pending_payout_by = 'owner';`
  const APPLIED = `update agents set payout_address_base = '${WALLET}', pending_payout_address_base = null,
    pending_payout_since = null, pending_payout_by = null;`

  test('payout settings: cannot begin the wait of a change in the past, nor change what already waits', async () => {
    const since = (ago: string) => owned + PENDING.replace('now()', `now() - interval '${ago}'`)
    const owned = agent(`'${WALLET}'`)
    for (const ago of ['2 minutes', '25 hours']) expect(await run('api', since(ago))).toBe(DENIED)
    for (const ago of ['30 seconds', '-30 days']) expect(await run('api', since(ago))).toBeUndefined()
    const waiting = owned
      .replace(
        'updated_at)',
        'updated_at, pending_payout_address_base, pending_payout_since, pending_payout_by)',
      )
      .replace('now(), now());', `now(), now(), '${WALLET}', now() - interval '23 hours', 'owner');`)
    const other = `update agents set pending_payout_address_base = '${WALLET.replaceAll('1', '2')}';`
    expect(await run('api', waiting + other)).toBe(DENIED)
    expect(await run('api', waiting + APPLIED)).toBeUndefined()
  })

  test('payout settings: cannot set one that was not pending, except the first one of an agent without an owner', async () => {
    const owned = agent(`'${WALLET}'`)
    expect(await run('api', owned + APPLIED)).toBe(DENIED)
    expect(await run('api', owned + PENDING + APPLIED)).toBeUndefined()
    expect(await run('api', agent('null') + APPLIED)).toBeUndefined()
    const other = APPLIED.replaceAll('1', '2')
    expect(await run('api', agent('null') + APPLIED + other)).toBe(DENIED)
    expect(await run('api', owned + PENDING + other)).toBe(DENIED)
    const removed = 'update agents set payout_address_base = null;'
    expect(await run('api', owned + PENDING + APPLIED + removed)).toBeUndefined()
  })

  const forgedTransfer = (state: string) => `
    insert into transfers (network, reference, purpose, payer, amount_micros, due_micros, block_height, block_hash,
      happened_at, state, checked_at, created_at)
    values ('base-mainnet', '0x${'2'.repeat(64)}', 'order:a', '0x${'1'.repeat(40)}', 1000000, 1000000, 1, '0x',
      now(), '${state}', now(), now());`

  const forgedJournal = (...moves: readonly (readonly [account: string, micros: number])[]) => `
    ${moves
      .map(([account]) => account.split(':'))
      .map(
        ([kind, subject]) => `
    insert into ledger_accounts (id, kind, network, subject, may_be_negative, created_at, updated_at)
      values ('${kind}:base-mainnet:${subject}', '${kind}', 'base-mainnet', '${subject}', ${kind === 'world'}, now(), now())
      on conflict do nothing;`,
      )
      .join('')}
    insert into ledger_journals (id, key, reason, subject, network, move_count, at)
      values ('jrn_0000000000000_${'0'.repeat(17)}', 'forged', 'forged', 'a', 'base-mainnet', ${moves.length}, now());
    ${moves
      .map(([account, micros], n) => {
        const [kind, subject] = account.split(':')
        return `
    insert into ledger_moves (journal_id, n, account_id, amount_micros, network, at)
      values ('jrn_0000000000000_${'0'.repeat(17)}', ${n + 1}, '${kind}:base-mainnet:${subject}', ${micros}, 'base-mainnet', now());`
      })
      .join('')}`

  const PAYABLE = `payable:pay_${'0'.repeat(32)}`

  test('payouts: cannot request one that no order, transfer or approval requires, even when the ledger holds it (asvs V8.2)', async () => {
    const payout = `${forgedPayout('queued', { purpose: `'order:a'` })};`
    const funded = forgedJournal(['world:0', -1_000_000], [PAYABLE, 1_000_000])
    expect(await run('worker', payout + funded)).toBeUndefined()
    expect(await run('api', payout)).toBe(DENIED)
    expect(await run('api', payout + funded)).toBe(DENIED)
    expect(await run('api', forgedTransfer('seen') + payout + funded)).toBe(DENIED)
    for (const kind of ['refund', 'surplus', 'fee_withdrawal'])
      expect(await run('api', `${forgedPayout('queued', { kind, purpose: `'order:a'` })};${funded}`)).toBe(
        DENIED,
      )
  })

  test('ledger: cannot move money to or from `payable` without a payout that waits for it', async () => {
    expect(await run('api', forgedJournal(['world:0', -1_000_000], [PAYABLE, 1_000_000]))).toBe(DENIED)
    expect(await run('worker', forgedJournal(['world:0', -1_000_000], [PAYABLE, 1_000_000]))).toBeUndefined()
    expect(await run('api', forgedJournal(['world:0', -1_000_000], ['escrow:a', 1_000_000]))).toBeUndefined()
  })

  test('payouts: cannot make a waiting payout another one, nor change its amount, purpose or approval', async () => {
    const payout = `${forgedPayout('queued', { purpose: `'order:a'` })};`
    await clients.worker?.query(payout + forgedJournal(['world:0', -1_000_000], [PAYABLE, 1_000_000]))
    for (const change of [
      `subject = 'y'`,
      `kind = 'move_to_cold'`,
      `purpose = 'order:b'`,
      `agent_id = 'agt_x'`,
      'amount_micros = 2000000',
      `approval_id = 'apr_x', approved_at = now()`,
      `payee = '0x${'3'.repeat(40)}'`,
    ])
      expect(await run('api', `update payouts set ${change}`)).toBe(DENIED)
    expect(await run('api', `update payouts set due_at = now()`)).toBeUndefined()
  })

  test('payouts: a temporary table does not stand in for one that the checks read', async () => {
    const shadow = `
      create temporary table payouts as select 'pay_${'1'.repeat(32)}' as id, 'withdrawn' as state;
      create temporary table ledger_accounts as select 1 as id;`
    const forged = forgedPayout('queued', { purpose: `'order:a'` })
      .replace('into payouts', 'into public.payouts')
      .replace('pay_0', 'pay_1')
      .replace(`'x'`, `'z'`)
    expect(await run('api', shadow + forged)).toBe(DENIED)
  })

  test('transfers: cannot make one final, nor change a final one', async () => {
    expect(await run('api', forgedTransfer('final'))).toBe(DENIED)
    expect(await run('worker', forgedTransfer('final'))).toBeUndefined()
    expect(await run('api', `${forgedTransfer('seen')} update transfers set state = 'final'`)).toBe(DENIED)
    expect(await run('api', forgedTransfer('seen'))).toBeUndefined()
    await clients.worker?.query(forgedTransfer('final'))
    for (const change of [`payer = '0x${'3'.repeat(40)}'`, 'amount_micros = 2000000', `state = 'gone'`])
      expect(await run('api', `update transfers set ${change}`)).toBe(DENIED)
    expect(await run('api', `update transfers set purpose = 'order:b', due_micros = 5`)).toBeUndefined()
  })

  test('agent_wallets: inserts a sealed seed, and reads the address and not the seed', async () => {
    const id = `agt_1_${'0'.repeat(17)}`
    const wallet = `
      insert into agents (id, name, name_skeleton, written_skeleton, slug, description, capabilities, ai_models, api_key_fingerprint,
        api_key_sealed, api_key_hint, created_at, updated_at)
      values ('${id}', 'Ada', 'ada', 'ada', 'ada', 'Draws maps.', '{}', '{}', '\\x${'00'.repeat(32)}', '\\x00', 'hint', now(), now());
      insert into agent_wallets (agent_id, chain, address, secret_sealed, created_at)
      values ('${id}', 'solana', 'A', '\\x02${'00'.repeat(88)}', now());`
    expect(await run('api', `${wallet} select agent_id, chain, address from agent_wallets`)).toBeUndefined()
    expect(await run('api', `${wallet} select * from agent_wallets`)).toBe(DENIED)
    expect(
      await run('worker', `${wallet} update agent_wallets set secret_sealed = secret_sealed`),
    ).toBeUndefined()
  })

  test('can enqueue the delivery of events', async () => {
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
    'delete from agent_wallets',
    'delete from creator_fees',
    `update creator_fees set status = 'settled'`,
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
        `select make_month(one, date '2001-01-01'), drop_month(one || '_200101') from unnest(array['events', 'buyer_events']) as one`,
      ),
    ).toBeUndefined()
    expect(await run('worker', `select make_month('ledger_moves', date '2001-01-01')`)).toBeUndefined()
    await clients.worker?.query(`select enqueue_job('deliver-events', '{}', 1, now(), 'k', 'replace')`)
    const { rowCount } = (await clients.worker?.query('select from graphile_worker._private_jobs')) ?? {}
    expect(rowCount).toBe(1)
  })
})

test('createRoles: can run many times at once, and sets the timeouts and synchronous_commit', async () => {
  await Promise.all(Array.from({ length: 4 }, () => createRoles(postgresUrl())))
  for (const role of ['api', 'worker'] as const) {
    const show = async (name: string) =>
      Object.values((await clients[role]?.query(`show ${name}`))?.rows[0] ?? {})[0]
    expect(await show('synchronous_commit')).toBe('on')
    expect(await show('statement_timeout')).toBe('4s')
    expect(await show('lock_timeout')).toBe('2s')
    expect(await show('idle_in_transaction_session_timeout')).toBe('10s')
  }
})
