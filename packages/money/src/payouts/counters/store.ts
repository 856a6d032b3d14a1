import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import {
  type Counted,
  type CounterChange,
  EARN_SCOPE,
  figuresOf,
  mergeChanges,
  NETWORK_SCOPE,
  windowStart,
} from './counters.ts'

/** At most 25 rows per scope, and the hours of payouts in flight, however many payouts there were. */
export async function findCounted(
  db: Db | Tx,
  network: Network,
  scopes: readonly string[],
  now: Date,
): Promise<Counted> {
  const start = windowStart(now)
  const { rows } = await sql<{ scope: string; capped: string; native: string; in_flight: string }>`
    select scope, sum(capped_micros)::text as capped, sum(native)::text as native, '0' as in_flight
    from payout_counters
    where network = ${network} and scope = any(${[...new Set(scopes)]}::text[]) and hour >= ${start}::timestamptz
    group by scope
    union all
    select scope, coalesce(sum(capped_in_flight_micros) filter (where hour < ${start}::timestamptz), 0)::text, '0',
      sum(in_flight_micros)::text
    from payout_counters
    where network = ${network} and scope = any(${[...new Set([NETWORK_SCOPE, ...scopes])]}::text[]) and has_in_flight
    group by scope`.execute(db)
  const capped = new Map<string, bigint>()
  for (const row of rows) capped.set(row.scope, (capped.get(row.scope) ?? 0n) + BigInt(row.capped))
  const ofNetwork = rows.filter(({ scope }) => scope === NETWORK_SCOPE)
  return {
    capped,
    native: ofNetwork.reduce((sum, { native }) => sum + BigInt(native), 0n),
    inFlight: ofNetwork.reduce((sum, row) => sum + BigInt(row.in_flight), 0n),
  }
}

/** The counters whose figures in flight are not those of the payouts that are in flight, as text; none when all are right. */
export async function findCounterDrift(db: Db): Promise<string[]> {
  const { rows } = await sql<{ drift: string }>`
    with expected as (
      select network, scope, date_trunc('hour', counted_at, 'UTC') as hour,
        sum(case when counts_against_caps and (scope, kind) <> (${NETWORK_SCOPE}, 'earn_withdrawal') then amount_micros else 0 end) as capped,
        sum(case when scope = ${NETWORK_SCOPE} then amount_micros else 0 end) as in_flight
      from payouts cross join lateral (values (${NETWORK_SCOPE}), (case when kind = 'earn_withdrawal' then ${EARN_SCOPE} end),
        ('agent:' || agent_id), ('payee:' || case when payee like '0x%' then lower(payee) else payee end)) as of (scope)
      where state = 'signed' and counted_at is not null and scope is not null
      group by 1, 2, 3
    )
    select concat_ws(' ', network, scope, hour, 'is', capped_in_flight_micros, in_flight_micros, 'instead of', capped, in_flight)
      as drift
    from expected full join (select * from payout_counters where has_in_flight) as actual using (network, scope, hour)
    where (coalesce(capped_in_flight_micros, 0), coalesce(in_flight_micros, 0)) <> (coalesce(capped, 0), coalesce(in_flight, 0))
    order by drift limit 10`.execute(db)
  return rows.map(({ drift }) => drift)
}

/**
 * The only writer of counters. Apart from a transaction that holds the network's lock, nothing is locked after it:
 * counters are shared by all payouts of an hour, so a transaction that waited with one could wait for ever.
 */
export async function applyCounters(tx: Tx, changes: readonly CounterChange[]): Promise<void> {
  const merged = mergeChanges(changes)
  const isLess = (change: CounterChange) => figuresOf(change).some((figure) => figure < 0n)
  const more = merged.filter((change) => !isLess(change))
  if (more.length > 0) await add(tx, more)
  for (const change of merged.filter(isLess)) await correct(tx, change)
}

async function add(tx: Tx, changes: readonly CounterChange[]): Promise<void> {
  await sql`
    insert into payout_counters as known (network, scope, hour, capped_micros, capped_in_flight_micros, in_flight_micros, native)
    select * from unnest(
      ${changes.map(({ network }) => network)}::text[],
      ${changes.map(({ scope }) => scope)}::text[],
      ${changes.map(({ hour }) => hour)}::timestamptz[],
      ${changes.map(({ capped }) => capped.toString())}::bigint[],
      ${changes.map(({ cappedInFlight }) => cappedInFlight.toString())}::bigint[],
      ${changes.map(({ inFlight }) => inFlight.toString())}::bigint[],
      ${changes.map(({ native }) => native.toString())}::numeric[])
    on conflict (network, scope, hour) do update set
      capped_micros = known.capped_micros + excluded.capped_micros,
      capped_in_flight_micros = known.capped_in_flight_micros + excluded.capped_in_flight_micros,
      in_flight_micros = known.in_flight_micros + excluded.in_flight_micros,
      native = known.native + excluded.native`.execute(tx)
}

/** A counter that becomes less exists, because what is taken out of it was counted in it. */
async function correct(tx: Tx, change: CounterChange): Promise<void> {
  const { network, scope, hour, capped, cappedInFlight, inFlight, native } = change
  const { numAffectedRows } = await sql`
    update payout_counters set capped_micros = capped_micros + ${capped},
      capped_in_flight_micros = capped_in_flight_micros + ${cappedInFlight}, in_flight_micros = in_flight_micros + ${inFlight},
      native = native + ${native.toString()}::numeric
    where network = ${network} and scope = ${scope} and hour = ${hour}`.execute(tx)
  assert(numAffectedRows === 1n, `${network} has a counter of ${scope} at ${hour.toISOString()}`)
}
