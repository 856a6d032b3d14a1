import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { withoutFlush } from '@market/database/without-flush'
import type { AgentId } from '@market/kernel/ids'
import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Delivery, DeliveryStatus, Outcome } from './delivery.ts'
import { afterAttempt } from './delivery.ts'

type Row = Selectable<Tables['deliveries']>

const deliveryOf = (row: Omit<Row, 'agent_id'>): Delivery => ({
  id: row.id,
  createdAt: row.created_at,
  seq: row.seq,
  event: row.event,
  orderId: row.order_id,
  status: row.status as DeliveryStatus,
  attempts: row.attempts,
  dueAt: row.due_at,
  firstAttemptAt: row.first_attempt_at,
  endedAt: row.ended_at,
  responseStatus: row.response_status,
  failure: row.failure,
})

/**
 * The lane's newest event when it was free, or its holder's time had run out; else until when it is held. A hold that a
 * crash of Postgres undoes does no harm: the attempts of both holders have the same delivery ids.
 */
export async function holdDeliveryQueue(
  db: Db,
  agentId: AgentId,
  hold: { holder: string; now: Date; until: Date },
): Promise<{ lastSeq: bigint } | { heldUntil: Date }> {
  const taken = await db
    .insertInto('delivery_queues')
    .columns(['agent_id', 'holder', 'held_until'])
    .expression(
      db
        .selectNoFrom([
          sql<string>`${agentId}::text`.as('agent_id'),
          sql<string>`${hold.holder}::uuid`.as('holder'),
          sql<Date>`${hold.until}::timestamptz`.as('held_until'),
        ])
        .where(withoutFlush),
    )
    .onConflict((conflict) =>
      conflict
        .column('agent_id')
        .doUpdateSet({ holder: hold.holder, held_until: hold.until })
        .where((where) =>
          where.or([
            where('delivery_queues.held_until', '<=', hold.now),
            where('delivery_queues.holder', '=', hold.holder),
          ]),
        ),
    )
    .returning('last_seq')
    .executeTakeFirst()
  if (taken !== undefined) return { lastSeq: taken.last_seq }
  const held = await db
    .selectFrom('delivery_queues')
    .select('held_until')
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
  return { heldUntil: held.held_until }
}

/** When a crash of Postgres undoes this, the hold runs out by itself. */
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
 * Makes deliveries of the events after the lane's last one and moves the lane on, in one statement. An agent without
 * an endpoint gets none and reads them itself. Answers how many events there were and the newest of them; nothing
 * happens when the lane has gone to another meanwhile.
 */
export async function takeInEvents(
  db: Db,
  lane: { agentId: AgentId; holder: string; lastSeq: bigint },
  how: { now: Date; limit: number; hasEndpoint: boolean },
): Promise<{ count: number; newest: bigint }> {
  const { agentId, holder, lastSeq } = lane
  const { rows } = await sql<{ count: number; newest: bigint | null }>`
    with fresh as (
      select seq, event, order_id from events where agent_id = ${agentId} and seq > ${lastSeq}
      order by seq limit ${how.limit}
    ), moved as (
      update delivery_queues set last_seq = (select max(seq) from fresh)
      where agent_id = ${agentId} and holder = ${holder} and last_seq = ${lastSeq} and exists (select from fresh)
      returning last_seq
    ), made as (
      insert into deliveries (id, created_at, agent_id, seq, event, order_id, status, due_at)
      select gen_random_uuid(), ${how.now}, ${agentId}, seq, event, order_id, 'pending', ${how.now}
      from fresh where ${how.hasEndpoint} and exists (select from moved)
    )
    select (select count(*)::int from fresh) as count, (select last_seq from moved) as newest`.execute(db)
  const [found] = rows
  if (found === undefined || found.count === 0) return { count: 0, newest: lastSeq }
  if (found.newest === null) throw new Error('the lane was taken over')
  return { count: found.count, newest: found.newest }
}

export async function insertEnded(tx: Tx, agentId: AgentId, delivery: Delivery): Promise<void> {
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

export interface DueDelivery extends Delivery {
  /** Null when the event is kept no longer. */
  readonly data: unknown
}

/** The oldest due deliveries with what they tell; of each order one, so that its events leave in their order. */
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
export async function findLeft(
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

const attemptRow = ({ delivery, outcome }: { delivery: Delivery; outcome: Outcome }) => ({
  id: delivery.id,
  created_at: delivery.createdAt,
  ...afterAttempt(delivery, outcome),
  first_attempt_at: delivery.firstAttemptAt ?? outcome.at,
  response_status: outcome.responseStatus,
  failure: outcome.failure,
})

/** The usual case, one attempt: takes about a third of the time of the statement for several. */
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

/** Writes down attempts, but none that another carrier wrote down since; answers of which deliveries it did. */
export async function saveAttempts(
  db: Db | Tx,
  attempts: readonly { delivery: Delivery; outcome: Outcome }[],
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

export async function findDeliveries(
  db: Db,
  agentId: AgentId,
  page: {
    limit: number
    status: DeliveryStatus | undefined
    after: { createdAt: Date; id: string } | undefined
  },
): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('agent_id', '=', agentId)
    .$if(page.status !== undefined, (query) => query.where('status', '=', page.status ?? ''))
    .$if(page.after !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(created_at, id) < (${page.after?.createdAt ?? new Date(0)}::timestamptz, ${page.after?.id ?? ''}::uuid)`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(deliveryOf)
}

/** Agents with something due that nobody has carried for a while. */
export async function findIdleDeliveryQueues(db: Db, dueBefore: Date, limit: number): Promise<AgentId[]> {
  const { rows } = await sql<{ agent_id: AgentId }>`
    select distinct agent_id from (
      select agent_id from deliveries where status = 'pending' and due_at < ${dueBefore}
      order by due_at limit ${limit * 50}
    ) as overdue limit ${limit}`.execute(db)
  return rows.map((row) => row.agent_id)
}
