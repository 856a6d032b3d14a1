import { randomBytes } from 'node:crypto'
import { asAdmin, databaseUrl } from '@market/testing/template-database'
import pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { readMigrations } from './migrations.ts'

const id = (prefix: string, n: number) => `${prefix}_1_${String(n).padStart(17, '0')}`

const order = (n: number, agent: number, status: string, fields: Readonly<Record<string, string>> = {}) => {
  const isPaid = !['quoted', 'cancelled'].includes(status)
  const isClosed = ['completed', 'cancelled'].includes(status)
  const all = {
    id: `'${id('ord', n)}'`,
    listing_id: `'${id('svc', agent)}'`,
    agent_id: `'${id('agt', agent)}'`,
    buyer: `'wallet:w'`,
    status: `'${status}'`,
    title: `'T'`,
    brief: `''`,
    reference_urls: `'{}'`,
    reference_images: `'{}'`,
    requirement_answers: `'{}'`,
    price_type: `'fixed'`,
    turnaround_hours: '24',
    max_revisions: '1',
    revision_count: '0',
    is_private: 'false',
    payer_proven: 'true',
    price_micros: '1000001',
    ...(isPaid && {
      payment_network: `'base-mainnet'`,
      payment_reference: `'${n}'`,
      paid_at: 'now()',
      deliver_by: 'now()',
    }),
    ...(isClosed && {
      closed_at: `now() - interval '${n} minutes'`,
      outcome: status === 'completed' ? `'released'` : `'unpaid'`,
      agent_share_bps: status === 'completed' ? '10000' : '0',
    }),
    ...(status === 'completed' && { delivered_at: 'now()' }),
    created_at: 'now()',
    updated_at: 'now()',
    ...fields,
  }
  return `insert into orders (${Object.keys(all).join()}) values (${Object.values(all).join()});`
}

/** Agent 1 is listed, agent 2 has no owner, agent 3 belongs to a deleted account. */
const ROWS = `
  insert into users (idp_user_id, created_at, updated_at, deleted_at) values ('gone', now(), now(), now());
  insert into agents (id, name, name_skeleton, written_skeleton, slug, description, capabilities, ai_models,
    owner_wallet, owner_user_id, api_key_fingerprint, api_key_sealed, api_key_hint, created_at, updated_at)
  select 'agt_1_' || lpad(n::text, 17, '0'), 'Agent ' || n, 'agent' || n, 'agent' || n, 'agent-' || n,
    'An agent for tests', '{}', '{}', wallet, owner, sha256(n::text::bytea), '', 'abcd', now() - interval '1 day', now()
  from (values (1, '0x1111111111111111111111111111111111111111', null), (2, null, null), (3, null, 'gone'))
    as old (n, wallet, owner);
  insert into listings (id, agent_id, slug, category, title, description, price_type, price_micros, turnaround_hours,
    deliverables, quota_limit, max_revisions, requirement_fields, active, marketable, created_at, updated_at)
  select 'svc_1_' || lpad(n::text, 17, '0'), 'agt_1_' || lpad(agent::text, 17, '0'), 'x' || n, 'coding', 'A title',
    repeat('d', 50), 'fixed', 1000000, 24, '{}', 0, 1, '[]', active, agent <> 2, at, now()
  from (values (1, 1, true, now() - interval '1 hour'), (2, 2, true, now()), (3, 3, false, now()),
    (4, 1, false, now() - interval '91 days')) as old (n, agent, active, at);
  ${order(1, 1, 'completed')}
  ${order(2, 1, 'completed', { outcome: `'split'`, agent_share_bps: '3333' })}
  ${order(3, 1, 'completed', { is_private: 'true' })}
  ${order(4, 2, 'completed')}
  ${order(5, 1, 'paid')}
  ${order(6, 1, 'quoted')}
  ${order(7, 1, 'cancelled')}
  insert into reviews (id, order_id, listing_id, agent_id, buyer, rating, comment, created_at)
  select 'rev_1_' || lpad(n::text, 17, '0'), 'ord_1_' || lpad(n::text, 17, '0'), 'svc_1_00000000000000001',
    'agt_1_00000000000000001', 'wallet:w', 4, '', now()
  from unnest(array[1, 3]) as n;`

let client: pg.Client
beforeEach(async () => {
  const name = `market_test_${randomBytes(6).toString('hex')}`
  await asAdmin((admin) => admin.query(`create database ${name}`))
  const url = databaseUrl(name)
  client = new pg.Client({ connectionString: url })
  await client.connect()
  await migrate(
    url,
    readMigrations().filter((migration) => migration.name < '0051'),
  )
  await client.query(ROWS)
  await migrate(url)
  return async () => {
    await client.end()
    await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`))
  }
})

const ask = async (statement: string): Promise<unknown[][]> =>
  (await client.query<unknown[]>({ text: statement, rowMode: 'array' })).rows

test('migrate: counts the rows of the version before 0051', async () => {
  expect(await ask('select name, value::integer from statistics order by name')).toEqual([
    ['agents', 1],
    ['orders_cancelled', 1],
    ['orders_completed', 4],
    ['orders_created', 7],
    ['orders_in_progress', 1],
    ['reviews', 2],
    ['services', 1],
    // Three whole prices, and 33.33 % of one, rounded down.
    ['settled_micros', 3 * 1_000_001 + 333_300],
  ])
  expect(
    await ask(
      'select agent_id, settled_micros::integer, completed_orders::integer from agent_statistics order by 1',
    ),
  ).toEqual([
    [id('agt', 1), 2 * 1_000_001 + 333_300, 3],
    [id('agt', 2), 1_000_001, 1],
  ])
  expect(await ask('select id from agents where closed_at is not null')).toEqual([[id('agt', 3)]])
})

test('migrate: the feed has what happened in 90 days, without hidden and closed agents and private orders', async () => {
  expect(await ask('select kind, subject, rating from activity order by at desc, id desc')).toEqual([
    ['review', id('rev', 1), 4],
    ['order', id('ord', 1), null],
    ['order', id('ord', 2), null],
    ['service', id('svc', 1), null],
    ['registration', id('agt', 1), null],
  ])
})
