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
  expect(await ask('select payer_proven from orders order by id')).toEqual([[false], [true], [true]])
  expect(await ask('select state, binding from purchases order by id')).toEqual([
    ['done', 'none'],
    ['done', 'payer'],
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
