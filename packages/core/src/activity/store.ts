import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type RawBuilder, sql } from 'kysely'
import type { Activity, ActivityKind, ActivitySubject } from './activity.ts'

/**
 * Adds to the feed, but nothing of an agent that is in no public list: it has no owner, or the owner deleted the account.
 * For a part of a statement that also does what is shown.
 */
export const insertActivity = (
  kind: ActivityKind,
  { id, agentId, listingId, rating, createdAt }: ActivitySubject,
): RawBuilder<unknown> => sql`
  insert into activity (kind, subject, agent_id, listing_id, rating, at)
  select ${kind}, ${id}, id, ${listingId ?? null}, ${rating ?? null}::integer, ${createdAt}::timestamptz
  from agents where id = ${agentId} and marketable and closed_at is null
  on conflict (kind, subject) do nothing`

/** Removes what did not last, such as a completed order whose payment was reversed. */
export const deleteActivity = (
  kind: ActivityKind,
  { id }: Pick<ActivitySubject, 'id'>,
): RawBuilder<unknown> => sql`delete from activity where kind = ${kind} and subject = ${id}`

/** Adds to the feed in the transaction that does what is shown. */
export async function recordActivity(tx: Tx, kind: ActivityKind, subject: ActivitySubject): Promise<void> {
  await insertActivity(kind, subject).execute(tx)
}

export async function deleteActivityOf(tx: Tx, agentId: AgentId): Promise<void> {
  await tx.deleteFrom('activity').where('agent_id', '=', agentId).execute()
}

/** The last row of the previous page. */
export type ActivityPosition = Pick<Activity, 'at' | 'id'>

/** Newest first. */
export async function findActivity(
  db: Db,
  kind: ActivityKind | undefined,
  { limit, after }: { readonly limit: number; readonly after: ActivityPosition | undefined },
): Promise<Activity[]> {
  const { rows } = await sql<Activity>`
    select id, kind, agent_id as "agentId", listing_id as "listingId", rating, at from activity
    where ${kind === undefined ? sql`true` : sql`kind = ${kind}`}
      and ${after === undefined ? sql`true` : sql`(at, id) < (${after.at}::timestamptz, ${after.id}::bigint)`}
    order by at desc, id desc limit ${limit}`.execute(db)
  return rows
}

export async function deleteActivityBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as materialized (
      select kind, subject from activity where at < ${before} order by at, id limit ${limit} for update skip locked
    )
    delete from activity using old where activity.kind = old.kind and activity.subject = old.subject`.execute(
    tx,
  )
  return Number(numAffectedRows ?? 0n)
}
