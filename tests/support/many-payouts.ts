import { HOUR, later } from '@market/kernel/clock'
import pg from 'pg'
import { NETWORK } from './payout-ledger.ts'

/**
 * Final payouts of the 24 hours before `now`, with their costs and counters, to one agent after
 * another.
 */
export async function fillWithPayouts(
  databaseUrl: string,
  count: number,
  now: Date,
  agents: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    // Neither triggers nor foreign keys: millions of rows in minutes.
    await client.query('set session_replication_role = replica')
    const first = later(now, -24 * HOUR)
    await client.query(
      `insert into payouts (id, network, kind, subject, purpose, payee, amount_micros, state, round, final_reference,
         agent_id, counts_against_caps, counted_at, created_at, updated_at, due_at)
       select 'pay_' || lpad(to_hex(n), 32, '0'), $1, 'payout', 'ord_' || n, 'order:ord_' || n,
         '0x' || lpad(to_hex(n % ${agents}), 40, '0'), 450000, 'final', 1, '0x' || lpad(to_hex(n), 64, '0'),
         'agt_' || (n % ${agents}), true, at, at, at, at
       from generate_series(1, $2::integer) as n
       cross join lateral (select $3::timestamptz + n * (interval '24 hours' / $2::integer) as at) as moment`,
      [NETWORK, count, first],
    )
    await client.query(
      'insert into payout_costs select id, 1, network, 3000000000000, counted_at from payouts',
    )
    await client.query(
      `insert into payout_counters (network, scope, hour, capped_micros, native)
       select network, scope, date_trunc('hour', counted_at, 'UTC'), sum(amount_micros),
         sum(case when scope = '*' then 3000000000000 else 0 end)
       from payouts cross join lateral (values ('*'), ('payee:' || payee), ('agent:' || agent_id)) as of (scope)
       group by 1, 2, 3`,
    )
    for (const table of ['payouts', 'payout_costs', 'payout_counters'])
      await client.query(`vacuum analyze ${table}`)
  } finally {
    await client.end()
  }
}
