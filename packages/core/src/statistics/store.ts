import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { COUNT_LIMIT } from '@market/kernel/waiting'
import { type RawBuilder, sql } from 'kysely'
import type { Needs } from '../context.ts'
import { STATISTICS, type StatisticChange, type StatisticName, type Statistics, sumBy } from './statistic.ts'

/** Adds changes to the figures. For a part of a statement that also makes the change. */
export const insertChanges = (changes: readonly StatisticChange[]): RawBuilder<unknown> => sql`
  insert into statistic_changes (name, agent_id, amount)
  values ${sql.join(changes.map(({ name, agentId, amount }) => sql`(${name}, ${agentId}, ${amount})`))}`

/** Adds to figures in the transaction that changes what they count. */
export async function addStatistics(
  tx: Tx,
  ...changes: readonly Pick<StatisticChange, 'name' | 'amount'>[]
): Promise<void> {
  const made = changes.filter(({ amount }) => amount !== 0n)
  if (made.length > 0) await insertChanges(made.map((change) => ({ ...change, agentId: null }))).execute(tx)
}

/** Removes the oldest changes that no other worker is moving. */
export async function takeChanges(tx: Tx, limit: number): Promise<StatisticChange[]> {
  const { rows } = await sql<StatisticChange>`
    with oldest as materialized (
      select id from statistic_changes order by id limit ${limit} for update skip locked
    )
    delete from statistic_changes using oldest where statistic_changes.id = oldest.id
    returning name, agent_id as "agentId", amount`.execute(tx)
  return rows
}

export interface StatisticsBacklog {
  /** Changes that are not moved yet, counted up to `COUNT_LIMIT`. */
  readonly changes: number
  readonly oldestSeconds: number
}

/** How far `rollUpStatistics` is behind. */
export async function findBacklog({ db }: Needs<'db'>): Promise<StatisticsBacklog> {
  const { rows } = await sql<StatisticsBacklog>`
    select count(*)::int as changes,
      coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)::float8 as "oldestSeconds"
    from (select created_at from statistic_changes order by id limit ${COUNT_LIMIT}) as oldest`.execute(db)
  return rows[0] ?? { changes: 0, oldestSeconds: 0 }
}

/** Adds changes to the totals. The rows are locked in a fixed order, so that two workers wait and do not deadlock. */
export async function addToTotals(tx: Tx, changes: readonly StatisticChange[]): Promise<void> {
  const byName = sumBy(changes, ({ name }) => name)
  await sql`
    insert into statistics as total (name, value)
    select * from unnest(${byName.map(([name]) => name)}::text[], ${byName.map(([, sum]) => sum)}::bigint[])
    on conflict (name) do update set value = total.value + excluded.value`.execute(tx)
  const sumOf = (counted: StatisticName) =>
    new Map(sumBy(changes, ({ name, agentId }) => (name === counted ? agentId : null)))
  const [settled, completed] = [sumOf('completed_micros'), sumOf('orders_completed')]
  const agents = [...new Set([...settled.keys(), ...completed.keys()])].toSorted()
  if (agents.length === 0) return
  await sql`
    insert into agent_statistics as total (agent_id, completed_micros, completed_orders)
    select * from unnest(${agents}::text[], ${agents.map((id) => settled.get(id) ?? 0n)}::bigint[],
      ${agents.map((id) => completed.get(id) ?? 0n)}::bigint[])
    on conflict (agent_id) do update set completed_micros = total.completed_micros + excluded.completed_micros,
      completed_orders = total.completed_orders + excluded.completed_orders`.execute(tx)
}

/** One statement, so that a change which is moved meanwhile counts once. */
export async function readStatistics(db: Db): Promise<Statistics> {
  const { rows } = await sql<{ name: StatisticName; value: bigint }>`
    select name, sum(value)::bigint as value
    from (select name, value from statistics union all select name, amount from statistic_changes) as counted
    group by name`.execute(db)
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  const names = Object.keys(STATISTICS) as StatisticName[]
  return Object.fromEntries(names.map((name) => [name, values.get(name) ?? 0n])) as Record<
    StatisticName,
    bigint
  >
}

export interface Leader {
  readonly agentId: AgentId
  readonly settled: bigint
  readonly completedOrders: bigint
}

/** The agent is in public lists: it has an owner, and the owner's account is not deleted. */
const isListed = sql`(select marketable and closed_at is null from agents where agents.id = agent_id)`

/**
 * The listed agents with the most settled money. Agents with changes that are not moved yet are ranked by their sums, the
 * others by the index. The conditions are subqueries, which Postgres never turns into a scan of all agents.
 */
export async function findLeaders(db: Db, limit: number): Promise<Leader[]> {
  const { rows } = await sql<Leader>`
    with changed as materialized (
      select agent_id, coalesce(sum(amount) filter (where name = 'completed_micros'), 0)::bigint as completed_micros,
        coalesce(sum(amount) filter (where name = 'orders_completed'), 0)::bigint as completed_orders
      from statistic_changes where agent_id is not null group by agent_id
    ), ranked as (
      (select agent_id, completed_micros, completed_orders from agent_statistics
      where completed_micros > 0 and agent_id not in (select agent_id from changed) and ${isListed}
      order by completed_micros desc, agent_id limit ${limit})
      union all
      select agent_id, changed.completed_micros + coalesce(total.completed_micros, 0),
        changed.completed_orders + coalesce(total.completed_orders, 0)
      from changed left join lateral (
        select completed_micros, completed_orders from agent_statistics where agent_id = changed.agent_id limit 1
      ) as total on true
      where ${isListed}
    )
    select agent_id as "agentId", completed_micros as settled, completed_orders as "completedOrders" from ranked
    where completed_micros > 0 order by completed_micros desc, agent_id limit ${limit}`.execute(db)
  return rows
}
