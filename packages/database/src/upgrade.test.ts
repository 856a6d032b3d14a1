import { randomBytes } from 'node:crypto'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { readMigrations } from './migrations.ts'

/** The rows of a database of the version before 0016, with the names and sentences of that version. */
const OLD_ROWS = `
  insert into agents (id, name, folded_name, slug, description, capabilities, ai_models, api_key_fingerprint,
    api_key_sealed, api_key_hint, created_at, updated_at)
  values ('agt_1_00000000000000001', 'Agent', 'agent', 'agent', 'An agent for tests', '{}', '{}',
    decode(repeat('01', 32), 'hex'), '', 'abcd', now(), now());
  insert into listings (id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours,
    deliverables, quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at)
  values ('svc_1_00000000000000001', 'agt_1_00000000000000001', 'x', 'coding', 'A title', repeat('d', 50), 'fixed', 10,
    24, '{}', 0, 1, '[]', true, true, now(), now());

  insert into payouts (id, network, kind, subject, payee, amount_micros, state, reason, nonce, final_reference,
    created_at, updated_at, due_at)
  select 'pay_' || lpad(n::text, 32, '0'), 'base-mainnet', 'payout', n::text,
    case when reason like '%no address%' then null else repeat('b', 42) end, 1000, state, reason,
    case when state in ('numbered', 'signed', 'final') then n end, case when state = 'final' then '0x1' end,
    now(), now(), now()
  from (values (1, 'queued', null), (2, 'held', 'Payouts on base-mainnet are frozen'), (3, 'held', 'Whatever'),
    (4, 'numbered', null), (5, 'signed', null), (6, 'signed', 'Another payment of the treasury used its nonce'),
    (7, 'signed', 'nonce too low'), (8, 'final', null), (9, 'failed', 'There is no address to pay it to'),
    (10, 'failed', 'It reverted'), (11, 'withdrawn', 'The payment it was to be paid from was undone')
  ) as old (n, state, reason);

  insert into orders (id, listing_id, agent_id, buyer, status, title, brief, reference_urls, reference_images,
    requirement_answers, price_type, turnaround_hours, max_revisions, revision_count, is_private, payment_method,
    price_micros, payment_network, payment_reference, paid_at, deliver_by, created_at, updated_at)
  select 'ord_1_0000000000000000' || n, 'svc_1_00000000000000001', 'agt_1_00000000000000001', 'wallet:w', 'paid', 'T',
    '', '{}', '{}', '{}', 'fixed', 24, 1, 0, false, 'x402', 10, 'base-mainnet', n, now(), now(), now(), now()
  from generate_series(1, 3) as n;
  insert into hires (id, network, kind, proof, subject, request, fingerprint, binding, amount_micros, state,
    lease_until, reference, result_id, created_at, updated_at)
  select 'hir_1_0000000000000000' || n, 'base-mainnet', 'transaction', repeat(n::text, 64),
    'service:svc_1_00000000000000001', '{}', decode(repeat('01', 32), 'hex'), binding, 10, 'done', now(),
    repeat(n::text, 64), 'ord_1_0000000000000000' || n, now(), now()
  from (values (1, 'none'), (2, 'payer')) as old (n, binding);
  insert into orders (id, listing_id, agent_id, buyer, status, title, brief, reference_urls, reference_images,
    requirement_answers, price_type, turnaround_hours, max_revisions, revision_count, is_private, price_micros,
    pending_network, pending_reference, pending_payers, pending_since, closed_at, outcome, created_at, updated_at)
  select 'ord_2_0000000000000000' || n, 'svc_1_00000000000000001', 'agt_1_00000000000000001', 'wallet:w', status, 'T',
    '', '{}', '{}', '{}', 'fixed', 24, 1, 0, false, 10, 'base-mainnet', repeat(n::text, 66), '{payer}', '2026-01-02Z',
    case status when 'cancelled' then now() end, case status when 'cancelled' then 'unpaid' end, '2026-01-01Z', now()
  from (values (1, 'accepted'), (2, 'cancelled')) as old (n, status);
  insert into hires (id, network, kind, proof, subject, request, fingerprint, binding, payer, amount_micros, state,
    lease_until, payment, reference, bytes, nonce, signed_at_height, result_id, why, created_at, updated_at)
  select 'hir_2_0000000000000000' || n, 'base-mainnet', 'authorization', repeat(n::text, 70), subject, '{}',
    decode(repeat('01', 32), 'hex'), 'signed', repeat('b', 42), 10, state, now(), '{"n": 1}', repeat(n::text, 66),
    case state when 'sent' then '0x01' end, n, 7, case state when 'done' then 'agt_' || n end, null, '2026-01-03Z', now()
  from (values (3, 'registration', 'sent'), (4, 'service:svc_1_00000000000000001', 'sent'), (5, 'registration', 'done'),
    (6, 'registration', 'void')) as old (n, subject, state);
  insert into transfers (network, reference, purpose, payer, amount_micros, due_micros, block_height, block_hash,
    happened_at, state, looked_at, created_at)
  values ('base-mainnet', repeat('7', 66), 'order:ord_1_00000000000000001', repeat('b', 42), 10, 10, 1, '0x1', now(), 'final', now(),
    now());

  insert into order_steps (order_id, n, action, from_status, to_status, actor, at)
  select 'ord_1_00000000000000001', n, action, before, after, actor, now()
  from (values (1, 'deliver', 'paid', 'delivered', 'agent:a'), (2, 'release', 'delivered', 'completed', 'clock'),
    (3, 'contest', 'completed', 'disputed', 'wallet:w'), (4, 'undo', 'disputed', 'accepted', 'clock'),
    (5, 'pay', 'accepted', 'paid', 'wallet:w'), (6, 'deliver', 'paid', 'delivered', 'clock'),
    (7, 'dispute', 'delivered', 'disputed', 'clock')
  ) as old (n, action, before, after, actor);

  select graphile_worker.add_job('carry-events', '{}'::json, job_key := key || ':agt_1')
  from unnest(array['carry-events', 'carry-events-due', 'carry-events-held']) as key`

let client: pg.Client
beforeEach(async () => {
  const name = `market_test_${randomBytes(6).toString('hex')}`
  await asAdmin((admin) => admin.query(`create database ${name}`))
  const url = databaseUrl(name)
  client = new pg.Client({ connectionString: url })
  await client.connect()
  await migrate(
    url,
    readMigrations().filter((migration) => migration.name < '0016'),
  )
  await client.query(OLD_ROWS)
  await migrate(url)
  return async () => {
    await client.end()
    await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`))
  }
})

const ask = async (statement: string): Promise<unknown[][]> =>
  (await client.query<unknown[]>({ text: statement, rowMode: 'array' })).rows

test('migrate: keeps the rows of the version before 0016 under the new names', async () => {
  expect(await ask('select state, hold_code, hold_detail from payouts order by id')).toEqual([
    ['queued', null, null],
    ['held', 'network_frozen', null],
    ['held', 'other', null],
    ['nonce_assigned', null, null],
    ['signed', null, null],
    ['signed', 'nonce_used', null],
    ['signed', 'broadcast_error', 'nonce too low'],
    ['final', null, null],
    ['failed', 'no_address', null],
    ['failed', null, null],
    ['withdrawn', null, null],
  ])
  expect(await ask('select action, actor from order_steps order by n')).toEqual([
    ['deliver', 'agent:a'],
    ['release', 'clock'],
    ['contest', 'wallet:w'],
    ['undo', 'clock'],
    ['pay', 'wallet:w'],
    ['restore_delivery', 'clock'],
    ['restore_dispute', 'clock'],
  ])
  // Only the first order can be contested: the payer of the second is proven, and the third has no purchase.
  expect(await ask(`select payer_proven from orders where id like 'ord_1%' order by id`)).toEqual([
    [false],
    [true],
    [true],
  ])
  expect(await ask('select state, binding from purchases order by id')).toEqual([
    ['done', 'none'],
    ['done', 'payer'],
    ['sent', 'signed'],
    ['sent', 'signed'],
    ['done', 'signed'],
    ['void', 'signed'],
  ])
  expect(await ask('select task_identifier, key from graphile_worker.jobs order by id')).toEqual([
    ['deliver-events', 'deliver-events:agt_1'],
    ['deliver-events', 'deliver-events-due:agt_1'],
    ['deliver-events', 'deliver-events-leased:agt_1'],
  ])
})

test('migrate: old payouts can change their state as the state table allows', async () => {
  const change = (from: string, set: string) =>
    client.query(`update payouts set hold_code = null, ${set} where state = '${from}'`)
  await change('nonce_assigned', `state = 'signed'`)
  await change('held', `state = 'nonce_assigned'`)
  await change('signed', `state = 'final', final_reference = id`)
  await change('failed', `state = 'queued', payee = repeat('b', 42)`)
  await expect(change('final', `state = 'queued', final_reference = null`)).rejects.toMatchObject({
    constraint: 'payouts_transition',
  })
})

test('migrate: what waited for a payment has a payment intent, and every transfer has index 0', async () => {
  const intents = await ask(
    `select purpose_kind, purpose_id, status, left(reference, 1), payers, due_micros::int, bytes, nonce::int
     from payment_intents order by purpose_id`,
  )
  const payers = ['b'.repeat(42)]
  expect(intents).toEqual([
    ['registration', 'hir_2_00000000000000003', 'waiting', '3', payers, 10, '0x01', 3],
    ['purchase', 'hir_2_00000000000000004', 'waiting', '4', payers, 10, '0x01', 4],
    ['registration', 'hir_2_00000000000000005', 'confirmed', '5', payers, 10, null, 5],
    ['order', 'ord_2_00000000000000001', 'waiting', '1', ['payer'], 10, null, null],
    ['order', 'ord_2_00000000000000002', 'waiting', '2', ['payer'], 10, null, null],
  ])
  expect(await ask('select transfer_index, subject = reference, is_whole from transfers')).toEqual([
    [0, true, true],
  ])
  const reopen = client.query(`update payment_intents set status = 'waiting' where status = 'confirmed'`)
  await expect(reopen).rejects.toMatchObject({ constraint: 'payment_intents_transition' })
})
