import { type Db, type Tx, transact } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type RawBuilder, sql } from 'kysely'
import type { MarketEvent } from './event.ts'

/**
 * Assigns the agent's next number, inserts the event and adds its delivery job in one statement, in this order. The
 * counter's row stays locked until the commit, so numbers have no gaps and become visible in order.
 */
export async function insertEvent(
  tx: Tx,
  event: Omit<MarketEvent, 'seq'>,
  addDeliveryJob: RawBuilder<bigint>,
): Promise<bigint> {
  const { rows } = await sql<{ seq: bigint }>`
    with counter as (
      insert into event_counters (agent_id, last_seq) values (${event.agentId}, 1)
      on conflict (agent_id) do update set last_seq = event_counters.last_seq + 1
      returning last_seq
    ), event as (
      insert into events (agent_id, seq, at, event, order_id, data)
      select ${event.agentId}, last_seq, ${event.at}::timestamptz, ${event.event}, ${event.orderId},
        ${JSON.stringify(event.data)}::jsonb
      from counter returning seq
    )
    select seq, ${addDeliveryJob} as job_id from event`.execute(tx)
  const [row] = rows
  if (row === undefined) throw new Error('inserting the event returned no row')
  return row.seq
}

/** An agent's events after a number, oldest first. */
export async function findEventsAfter(
  db: Db | Tx,
  agentId: AgentId,
  after: bigint,
  limit: number,
): Promise<MarketEvent[]> {
  const rows = await db
    .selectFrom('events')
    .select(['seq', 'at', 'event', 'order_id', 'data'])
    .where('agent_id', '=', agentId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    agentId,
    seq: row.seq,
    at: row.at,
    event: row.event,
    orderId: row.order_id,
    data: row.data,
  }))
}

/** The last number of each agent that has events. */
export async function findLastSeqs(
  db: Db,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await db
    .selectFrom('event_counters')
    .select(['agent_id', 'last_seq'])
    .where('agent_id', 'in', [...agentIds])
    .execute()
  return new Map(rows.map((row) => [row.agent_id, row.last_seq]))
}

/** The lock makes a second worker wait, so that it finds the partition created. */
export const createPartition = (db: Db, table: string, month: Date): Promise<void> =>
  transact(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('make_month'))`.execute(tx)
    await sql`select make_month(${table}, ${month.toISOString().slice(0, 10)}::date)`.execute(tx)
  })

/** Names of the partitions of months before the given one. */
export async function findPartitionsBefore(db: Db, parent: string, month: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid join pg_class parent on parent.oid = inhparent
    where parent.relname = ${parent} and child.relname ~ ${`^${parent}_[0-9]{6}$`}
      and right(child.relname, 6) < ${month}`.execute(db)
  return rows.map((row) => row.name)
}

/** Under the same lock, because Postgres fails a second drop of a partition that is being dropped. */
export const dropPartition = (db: Db, name: string): Promise<void> =>
  transact(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('make_month'))`.execute(tx)
    await sql`select drop_month(${name})`.execute(tx)
  })
