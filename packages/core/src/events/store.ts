import { type Db, type Tx, transact } from '@market/database/transact'
import { type RawBuilder, sql } from 'kysely'
import type { Buyer, EventReader, MarketEvent } from './event.ts'

/** Agents and buyers have the same kind of tables: a counter per reader, and the numbered events. */
const TABLES = {
  agent: { counters: 'event_counters', events: 'events', reader: 'agent_id' },
  buyer: { counters: 'buyer_event_counters', events: 'buyer_events', reader: 'buyer' },
} as const satisfies Record<EventReader['kind'], object>

function sqlNames(kind: EventReader['kind']) {
  const { counters, events, reader } = TABLES[kind]
  return { counters: sql.table(counters), events: sql.table(events), reader: sql.ref(reader) }
}

/**
 * Assigns the reader's next number and inserts the event: the parts `next_number` and `new_event` of a `with` clause. The
 * counter's row stays locked until the commit, so numbers have no gaps and become visible in order. A new database epoch
 * continues with the time in milliseconds, far above every number that an earlier one can have lost.
 */
export function newEvent(
  { kind, key }: EventReader,
  { at, event, orderId, data }: Omit<MarketEvent, 'seq'>,
): RawBuilder<unknown> {
  const { counters, events, reader } = sqlNames(kind)
  return sql`
    next_number as (
      insert into ${counters} as counter (${reader}, last_seq) values (${key}, 1)
      on conflict (${reader}) do update set database_epoch = excluded.database_epoch, last_seq = case
        when counter.database_epoch = excluded.database_epoch then counter.last_seq + 1
        else greatest(counter.last_seq + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint) end
      returning last_seq
    ), new_event as (
      insert into ${events} (${reader}, seq, at, event, order_id, data)
      select ${key}, last_seq, ${at}::timestamptz, ${event}, ${orderId}, ${JSON.stringify(data)}::jsonb
      from next_number returning seq
    )`
}

/** Inserts the event and, where the reader has one, adds its delivery job in the same statement. */
export async function insertEvent(
  tx: Tx,
  reader: EventReader,
  event: Omit<MarketEvent, 'seq'>,
  addDeliveryJob?: RawBuilder<bigint>,
): Promise<bigint> {
  const { rows } = await sql<{ seq: bigint }>`
    with ${newEvent(reader, event)}
    select seq${addDeliveryJob === undefined ? sql`` : sql`, ${addDeliveryJob} as job_id`} from new_event`.execute(
    tx,
  )
  const [row] = rows
  if (row === undefined) throw new Error('inserting the event returned no row')
  return row.seq
}

/**
 * Locks the counters of buyers until the transaction ends, in the order of their names.
 *
 * Every transaction locks in this order, so that none waits for another one in a circle: rows of orders, counters of
 * buyers, then rows that many orders share (ledger accounts, listings, agents, unread notifications), and the counter of an
 * agent. Saving a step of an order locks the counter of its buyer. So a command that changes shared rows before it
 * saves the step, or the orders of two buyers, calls this first.
 */
export async function lockBuyerEvents(tx: Tx, ...buyers: readonly Buyer[]): Promise<void> {
  await sql`
    insert into buyer_event_counters as counter (buyer, last_seq)
    select buyer, 0 from unnest(${[...new Set(buyers)].toSorted()}::text[]) with ordinality as one (buyer, n) order by n
    on conflict (buyer) do update set last_seq = counter.last_seq`.execute(tx)
}

/** A reader's events after a number, oldest first. */
export async function findEventsAfter(
  db: Db | Tx,
  { kind, key }: EventReader,
  after: bigint,
  limit: number,
): Promise<MarketEvent[]> {
  const { events, reader } = sqlNames(kind)
  const { rows } = await sql<MarketEvent>`
    select seq, at, event, order_id as "orderId", data from ${events}
    where ${reader} = ${key} and seq > ${after} order by seq limit ${limit}`.execute(db)
  return rows
}

/**
 * Where to continue after a number that no event of the reader has, because the database lost it: after the last event before
 * it. Undefined when the number is that of an event, or older than every stored one.
 */
export async function findReset(
  db: Db | Tx,
  { kind, key }: EventReader,
  after: bigint,
): Promise<bigint | undefined> {
  if (after === 0n) return undefined
  const { counters, events, reader } = sqlNames(kind)
  const { rows } = await sql<{ newest: bigint | null; last: bigint | null }>`
    select (select seq from ${events} where ${reader} = ${key} and seq <= ${after} order by seq desc limit 1) as newest,
      (select last_seq from ${counters} where ${reader} = ${key}) as last`.execute(db)
  const { newest = null, last = null } = rows[0] ?? {}
  if (newest !== null) return newest === after ? undefined : newest
  return after > (last ?? 0n) ? (last ?? 0n) : undefined
}

/** The last number of each reader that has events. */
export async function findLastSeqs(
  db: Db,
  kind: EventReader['kind'],
  keys: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const { counters, reader } = sqlNames(kind)
  const { rows } = await sql<{ key: string; last_seq: bigint }>`
    select ${reader} as key, last_seq from ${counters} where ${reader} = any(${[...keys]}::text[])`.execute(
    db,
  )
  return new Map(rows.map((row) => [row.key, row.last_seq]))
}

/** Deletes the events of buyers whose account is deleted. The counters stay, so that no number is assigned again. */
export async function deleteEventsOf(tx: Tx, buyers: readonly Buyer[]): Promise<void> {
  await tx
    .deleteFrom('buyer_events')
    .where('buyer', 'in', [...buyers])
    .execute()
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
