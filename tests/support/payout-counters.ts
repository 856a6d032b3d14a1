import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'

/** What the counters must say, added up over all payouts and their costs. */
const SUMS = sql`
  select network, scope, hour, sum(capped)::bigint as capped,
    sum(case when is_final then 0 else capped end)::bigint as capped_in_flight, sum(in_flight)::bigint as in_flight, sum(native) as native
  from (
    select network, scope, date_trunc('hour', counted_at, 'UTC') as hour,
      case when counts_against_caps and (scope, kind) <> ('*', 'earn_withdrawal') then amount_micros else 0 end as capped,
      case when scope = '*' and state <> 'final' then amount_micros else 0 end as in_flight,
      state = 'final' as is_final, 0 as native
    from payouts cross join lateral (values ('*'), (case when kind = 'earn_withdrawal' then 'earn' end), ('agent:' || agent_id),
      ('payee:' || case when payee like '0x%' then lower(payee) else payee end)) as of (scope)
    where counted_at is not null and scope is not null
    union all
    select network, '*', date_trunc('hour', at, 'UTC'), 0, 0, true, native from payout_costs
  ) as parts group by network, scope, hour`

/** The counters that differ from the sum over the table, as text; none when they are right. */
export async function counterDrift(db: Db | Tx): Promise<string[]> {
  const { rows } = await sql<{ drift: string }>`
    with expected as (${SUMS})
    select concat_ws(' ', network, scope, hour, 'is', actual.capped_micros, actual.capped_in_flight_micros,
      actual.in_flight_micros, actual.native, 'and must be', expected.capped, expected.capped_in_flight, expected.in_flight, expected.native) as drift
    from expected full join payout_counters as actual using (network, scope, hour)
    where (coalesce(actual.capped_micros, 0), coalesce(actual.capped_in_flight_micros, 0), coalesce(actual.in_flight_micros, 0), coalesce(actual.native, 0))
      <> (coalesce(expected.capped, 0), coalesce(expected.capped_in_flight, 0), coalesce(expected.in_flight, 0), coalesce(expected.native, 0))`.execute(
    db,
  )
  return rows.map(({ drift }) => drift)
}

/** After a test changed payouts by hand: what a backup of such a database would have. */
export async function restoreCounters(tx: Tx): Promise<void> {
  await sql`delete from payout_counters`.execute(tx)
  await sql`
    insert into payout_counters (network, scope, hour, capped_micros, capped_in_flight_micros, in_flight_micros, native) ${SUMS}`.execute(
    tx,
  )
}
