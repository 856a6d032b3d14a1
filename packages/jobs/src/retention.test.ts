import { systemClock } from '@market/kernel/clock'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { SweepContext } from './reports.ts'
import { RETENTION } from './retention.ts'

/** Ten hours of one order a second (docs/operations/scale.md). */
const ORDERS = 36_000
const BATCH = 1_000

interface Filled {
  readonly table: string
  /** Rows per order, where an order makes several. */
  readonly each?: number
  /** The columns, and their values for the number `n`. */
  readonly columns: string
  readonly values: RawBuilder<unknown>
}

const AGED = sql`now() - interval '100 days'`
const WALLET = sql`lpad(translate(n::text, '0', 'z'), 44, '1')`

/** Everything that is deleted after a time by its rows. All of it is overdue. */
const tablesOf = (agentId: string): readonly Filled[] => [
  {
    table: 'notifications',
    each: 4,
    columns: 'id, recipient, kind, title, body, data, created_at, read_at',
    values: sql`'ntf_' || extract(epoch from ${AGED})::bigint * 1000 || '_0' || lpad(n::text, 16, '0'), 'user:' || n % 500,
      'order.paid', 'Paid', 'It is paid.', '{}'::jsonb, ${AGED}, case when n % 10 = 0 then null else ${AGED} end`,
  },
  {
    table: 'activity',
    each: 2,
    columns: 'kind, subject, agent_id, at',
    values: sql`'order', 'ord_' || n, ${agentId}, ${AGED}`,
  },
  {
    table: 'requests',
    columns: 'scope, key, operation, fingerprint, state, leased_until, status, response_sealed, created_at',
    values: sql`'user:1', n, 'createOrder', sha256(n::text::bytea), 'done', ${AGED}, 200, '\\x00'::bytea, ${AGED}`,
  },
  {
    table: 'used_signatures',
    columns: 'wallet_key, purpose, signed_at_ms, used_at',
    values: sql`${WALLET}, 'orders.create', n, ${AGED}`,
  },
  {
    table: 'unproven_attempts',
    columns: 'subject, attempted_at, updated_at',
    values: sql`'url:' || n, array[${AGED}], ${AGED}`,
  },
  {
    table: 'swap_orders',
    columns: `id, user_id, wallet, amount_micros, min_out_lamports, message_sha256, maker_request, last_valid_height, status,
      signature, created_at, expires_at, executed_at`,
    values: sql`'swp_1_0' || lpad(n::text, 16, '0'), 'a-user', ${WALLET}, 1, 1, sha256(n::text::bytea), n, 1,
      case n % 2 when 0 then 'ordered' else 'confirmed' end, case n % 2 when 1 then lpad('', 64, '1') end,
      ${AGED}, now(), case n % 2 when 1 then ${AGED} end`,
  },
  {
    table: 'purchases',
    columns: `id, network, kind, proof, subject, request, fingerprint, binding, amount_micros, state, lease_until, created_at,
      updated_at`,
    values: sql`'hir_1_0' || lpad(n::text, 16, '0'), 'base-mainnet', 'transaction', lpad(n::text, 66, '0'), 'registration',
      '{}'::jsonb, sha256(n::text::bytea), 'none', 1, 'void', ${AGED}, ${AGED}, ${AGED}`,
  },
  {
    table: 'sessions',
    columns: 'id, wallet_key, wallet_chain, wallet_address, wallet_proven_by, created_at, expires_at',
    values: sql`lpad(n::text, 43, '0'), ${WALLET}, 'solana', ${WALLET}, 'key', ${AGED}, ${AGED} + interval '12 hours'`,
  },
  {
    table: 'oauth_records',
    columns: 'model, id, payload, created_at, expires_at',
    values: sql`case n % 3 when 0 then 'Client' else 'AccessToken' end, n, '{}'::json, ${AGED},
      case n % 3 when 0 then null else ${AGED} + interval '1 hour' end`,
  },
  {
    table: 'upload_totals',
    columns: 'day, owner, files, bytes',
    values: sql`(${AGED})::date, 'agent:' || n, 1, 1`,
  },
]

test('retention: after ten times the load of an hour nothing is overdue, and no statement deletes more than 1,000 rows', async () => {
  const database = await testDatabase()
  try {
    const { db } = database
    const ctx = { ...marketContext({ db }), clock: { ...systemClock, advance: () => {} } }
    const { agent } = await makeAgent(marketContext({ db }))
    const filled = tablesOf(agent.id)
    await sql`insert into users (idp_user_id, created_at, updated_at) values ('a-user', now(), now())`.execute(
      db,
    )
    await sql`delete from activity`.execute(db)
    await sql`create table deleted_batches (name text, deleted integer)`.execute(db)
    await sql`
      create function count_deleted() returns trigger language plpgsql as $$
      begin
        insert into deleted_batches select tg_table_name, count(*) from gone;
        return null;
      end $$`.execute(db)
    for (const { table, each = 1, columns, values } of filled) {
      for (let part = 0; part < each; part++) {
        const numbers = sql`generate_series(${part * ORDERS + 1}::integer, ${(part + 1) * ORDERS}::integer) as n`
        await sql`insert into ${sql.table(table)} (${sql.raw(columns)}) select ${values} from ${numbers}`.execute(
          db,
        )
      }
      await sql`
        create trigger count_deleted after delete on ${sql.table(table)} referencing old table as gone
        for each statement execute function count_deleted()`.execute(db)
    }
    await sql`
      insert into unread_counters (recipient, unread)
      select recipient, count(*) filter (where read_at is null) from notifications group by recipient`.execute(
      db,
    )

    await Promise.all(
      RETENTION.map(({ run }) => run(ctx as unknown as SweepContext, { error: () => undefined })),
    )

    for (const { table, each = 1 } of filled) {
      const { rows } = await sql<{ left: number; deleted: number; largest: number }>`
        select (select count(*)::integer from ${sql.table(table)}) as left, sum(deleted)::integer as deleted,
          max(deleted) as largest
        from deleted_batches where name = ${table}`.execute(db)
      expect({ table, ...rows[0] }).toEqual({ table, left: 0, deleted: ORDERS * each, largest: BATCH })
    }
    const { rows } = await sql<{
      unread: number
    }>`select sum(unread)::integer as unread from unread_counters`.execute(db)
    expect(rows).toEqual([{ unread: 0 }])
  } finally {
    await database.stop()
  }
})
