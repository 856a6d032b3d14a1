import { DATABASE_EPOCH } from '@market/database/epoch'
import { type NewestFirstPage, newestFirstPage } from '@market/database/newest-first'
import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { withoutFlush } from '@market/database/without-flush'
import type { AgentId } from '@market/kernel/ids'
import { type Selectable, sql } from 'kysely'
import {
  type AttemptResult,
  afterAttempt,
  type DeliveryStatus,
  type WebhookDelivery,
} from './webhook-delivery.ts'

type Row = Selectable<Tables['deliveries']>

const deliveryOf = rowReader<Omit<Row, 'agent_id'>, WebhookDelivery>()(columns('deliveries', 'agent_id'), {})

/**
 * Leases the agent's delivery queue and returns its last event, or until when another worker has it leased. If a crash
 * of Postgres undoes a lease, two workers send the same deliveries, with the same delivery ids.
 */
export async function leaseDeliveryQueue(
  db: Db,
  agentId: AgentId,
  lease: { holder: string; now: Date; until: Date },
): Promise<{ lastSeq: bigint } | { leasedUntil: Date }> {
  const leased = await db
    .insertInto('delivery_queues')
    .columns(['agent_id', 'holder', 'held_until'])
    .expression(
      db
        .selectNoFrom([
          sql<string>`${agentId}::text`.as('agent_id'),
          sql<string>`${lease.holder}::uuid`.as('holder'),
          sql<Date>`${lease.until}::timestamptz`.as('held_until'),
        ])
        .where(withoutFlush),
    )
    .onConflict((conflict) =>
      conflict
        .column('agent_id')
        .doUpdateSet({ holder: lease.holder, held_until: lease.until, database_epoch: DATABASE_EPOCH })
        .where((where) =>
          where.or([
            where('delivery_queues.held_until', '<=', lease.now),
            where('delivery_queues.database_epoch', '<>', DATABASE_EPOCH),
            where('delivery_queues.holder', '=', lease.holder),
          ]),
        ),
    )
    .returning('last_seq')
    .executeTakeFirst()
  if (leased !== undefined) return { lastSeq: leased.last_seq }
  const other = await db
    .selectFrom('delivery_queues')
    .select('held_until')
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
  return { leasedUntil: other.held_until }
}

/** If a crash of Postgres undoes this, the lease expires. */
export async function releaseDeliveryQueue(db: Db, agentId: AgentId, holder: string): Promise<void> {
  await db
    .updateTable('delivery_queues')
    .set({ held_until: new Date(0) })
    .where('agent_id', '=', agentId)
    .where('holder', '=', holder)
    .where(withoutFlush)
    .execute()
}

/**
 * Creates deliveries for the events after the queue's last one and advances the queue, in one statement. An agent
 * without an endpoint gets none and reads its events itself. Returns how many events there were and the last of them,
 * and throws when another worker has leased the queue in the meantime.
 */
export async function createDeliveries(
  db: Db,
  queue: { agentId: AgentId; holder: string; lastSeq: bigint },
  options: { now: Date; limit: number; hasEndpoint: boolean },
): Promise<{ events: number; lastSeq: bigint }> {
  const { agentId, holder, lastSeq } = queue
  const { rows } = await sql<{ events: number; lastSeq: bigint | null }>`
    with fresh as (
      select seq, event, order_id from events where agent_id = ${agentId} and seq > ${lastSeq}
      order by seq limit ${options.limit}
    ), advanced as (
      update delivery_queues set last_seq = (select max(seq) from fresh)
      where agent_id = ${agentId} and holder = ${holder} and last_seq = ${lastSeq} and exists (select from fresh)
      returning last_seq
    ), created as (
      insert into deliveries (id, created_at, agent_id, seq, event, order_id, status, due_at)
      select gen_random_uuid(), ${options.now}, ${agentId}, seq, event, order_id, 'pending', ${options.now}
      from fresh where ${options.hasEndpoint} and exists (select from advanced)
    )
    select (select count(*)::int from fresh) as events, (select last_seq from advanced) as "lastSeq"`.execute(
    db,
  )
  const [found] = rows
  if (found === undefined || found.events === 0) return { events: 0, lastSeq }
  if (found.lastSeq === null) throw new Error('another worker leased the delivery queue')
  return { events: found.events, lastSeq: found.lastSeq }
}

export async function insertEnded(tx: Tx, agentId: AgentId, delivery: WebhookDelivery): Promise<void> {
  await tx
    .insertInto('deliveries')
    .values({
      id: delivery.id,
      created_at: delivery.createdAt,
      agent_id: agentId,
      seq: delivery.seq,
      event: delivery.event,
      order_id: delivery.orderId,
      status: delivery.status,
      attempts: delivery.attempts,
      due_at: null,
      first_attempt_at: delivery.firstAttemptAt,
      ended_at: delivery.endedAt,
      response_status: delivery.responseStatus,
      failure: delivery.failure,
    })
    .execute()
}

export interface DueDelivery extends WebhookDelivery {
  /** Null when the event was deleted after its retention. */
  readonly data: unknown
}

/** The oldest due deliveries with the data of their events; one per order, so that its events are sent in order. */
export async function findDue(db: Db, agentId: AgentId, now: Date, limit: number): Promise<DueDelivery[]> {
  const { rows } = await sql<Row & { data: unknown }>`
    select due.*, events.data from (
      select distinct on (case when order_id = '' then id::text else order_id end) *
      from deliveries
      where agent_id = ${agentId} and status = 'pending' and due_at <= ${now}
      order by case when order_id = '' then id::text else order_id end, seq
    ) as due
    left join events on events.agent_id = due.agent_id and events.seq = due.seq
    order by due.seq limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...deliveryOf(row), data: row.data }))
}

/** Whether the agent has events after this one, and when the earliest of its deliveries is due. */
export async function findRemaining(
  db: Db,
  agentId: AgentId,
  lastSeq: bigint,
): Promise<{ hasEvents: boolean; nextDue: Date | null }> {
  const { rows } = await sql<{ hasEvents: boolean; nextDue: Date | null }>`
    select
      exists (select from events where agent_id = ${agentId} and seq > ${lastSeq}) as "hasEvents",
      (select min(due_at) from deliveries where agent_id = ${agentId} and status = 'pending') as "nextDue"
    `.execute(db)
  return rows[0] ?? { hasEvents: false, nextDue: null }
}

const attemptRow = ({ delivery, result }: { delivery: WebhookDelivery; result: AttemptResult }) => ({
  id: delivery.id,
  created_at: delivery.createdAt,
  ...afterAttempt(delivery, result),
  first_attempt_at: delivery.firstAttemptAt ?? result.at,
  response_status: result.responseStatus,
  failure: result.failure,
})

/** For a single attempt, the usual case: three times faster than the statement for several. */
async function saveAttempt(db: Db | Tx, row: ReturnType<typeof attemptRow>): Promise<ReadonlySet<string>> {
  const saved = await db
    .updateTable('deliveries')
    .set({
      status: row.status,
      attempts: row.attempts,
      due_at: row.dueAt,
      ended_at: row.endedAt,
      first_attempt_at: row.first_attempt_at,
      response_status: row.response_status,
      failure: row.failure,
    })
    .where('id', '=', row.id)
    .where('created_at', '=', row.created_at)
    .where('status', '=', 'pending')
    .where('attempts', '=', row.attempts - 1)
    .returning('id')
    .execute()
  return new Set(saved.map(({ id }) => id))
}

/** Records attempts, except those that another worker recorded since, and returns the ids of the updated deliveries. */
export async function saveAttempts(
  db: Db | Tx,
  attempts: readonly { delivery: WebhookDelivery; result: AttemptResult }[],
): Promise<ReadonlySet<string>> {
  const rows = attempts.map(attemptRow)
  const [only, ...others] = rows
  if (only === undefined) return new Set()
  if (others.length === 0) return saveAttempt(db, only)
  const times = rows.map((row) => row.created_at.getTime())
  const saved = await sql<{ id: string }>`
    update deliveries set status = made.status, attempts = made.attempts, due_at = made."dueAt",
      ended_at = made."endedAt", first_attempt_at = made.first_attempt_at,
      response_status = made.response_status, failure = made.failure
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as made (
      id uuid, created_at timestamptz, status text, attempts int, "dueAt" timestamptz, "endedAt" timestamptz,
      first_attempt_at timestamptz, response_status int, failure text
    )
    where deliveries.id = made.id and deliveries.created_at = made.created_at
      and deliveries.created_at between ${new Date(Math.min(...times))} and ${new Date(Math.max(...times))}
      and deliveries.status = 'pending' and deliveries.attempts = made.attempts - 1
    returning deliveries.id`.execute(db)
  return new Set(saved.rows.map((row) => row.id))
}

/** Drops the due deliveries of an agent without an attempt, and returns how many. */
export async function dropDue(tx: Tx, agentId: AgentId, now: Date, failure: string): Promise<number> {
  const done = await tx
    .updateTable('deliveries')
    .set({ status: 'dropped', due_at: null, ended_at: now, failure })
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending')
    .where('due_at', '<=', now)
    .executeTakeFirst()
  return Number(done.numUpdatedRows)
}

export async function findDeliveries(
  db: Db,
  agentId: AgentId,
  page: NewestFirstPage & { readonly status: DeliveryStatus | undefined },
): Promise<WebhookDelivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$if(page.status !== undefined, (query) => query.where('status', '=', page.status ?? ''))
    .$call(newestFirstPage(page))
    .execute()
  return rows.map(deliveryOf)
}

export interface DroppedDeliveries {
  readonly agentId: AgentId
  readonly count: number
}

/** The newest deliveries that were dropped since a time, by agent, the agent with the most first. */
export async function findDropped(db: Db, since: Date, limit: number): Promise<DroppedDeliveries[]> {
  const { rows } = await sql<DroppedDeliveries>`
    select agent_id as "agentId", count(*)::integer as count from (
      select agent_id from deliveries where status = 'dropped' and ended_at >= ${since}
      order by ended_at desc limit ${limit}
    ) as newest group by agent_id order by count desc, agent_id`.execute(db)
  return rows
}

/** Agents with a delivery that was due before the given time. */
export async function findAgentsWithOverdue(db: Db, dueBefore: Date, limit: number): Promise<AgentId[]> {
  const { rows } = await sql<{ agent_id: AgentId }>`
    select distinct agent_id from (
      select agent_id from deliveries where status = 'pending' and due_at < ${dueBefore}
      order by due_at limit ${limit * 50}
    ) as overdue limit ${limit}`.execute(db)
  return rows.map((row) => row.agent_id)
}
