import { DATABASE_EPOCH } from '@market/database/epoch'
import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'
import type { Resealing, SealedRow } from '../reseal.ts'
import type { Lease, RequestKey, RequestName } from './request.ts'

export interface RequestRow {
  readonly operation: string
  readonly fingerprint: Buffer
  readonly state: string
  readonly attempt: number
  readonly leased_until: Date
  readonly status: number | null
  readonly response_sealed: Buffer | null
  readonly created_at: Date
}

/**
 * Returns the number of the attempt when the key is new, or its lease or its retention has expired. A lease of an earlier
 * database epoch is free: the connection that had its transaction is gone.
 */
export async function leaseRow(
  db: Db,
  request: RequestKey,
  at: { now: Date; leasedUntil: Date; retainedSince: Date },
): Promise<number | undefined> {
  const row = await db
    .insertInto('requests')
    .values({
      scope: request.scope,
      key: request.key,
      operation: request.operation,
      fingerprint: request.fingerprint,
      state: 'running',
      leased_until: at.leasedUntil,
      created_at: at.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'key'])
        .doUpdateSet({
          operation: request.operation,
          fingerprint: request.fingerprint,
          state: 'running',
          status: null,
          response_sealed: null,
          leased_until: at.leasedUntil,
          database_epoch: DATABASE_EPOCH,
          created_at: at.now,
          attempt: sql<number>`requests.attempt + 1`,
        })
        .where((where) =>
          where.or([
            where('requests.created_at', '<', at.retainedSince),
            where.and([
              where('requests.state', '=', 'running'),
              where.or([
                where('requests.leased_until', '<', at.now),
                where('requests.database_epoch', '<>', DATABASE_EPOCH),
              ]),
              where('requests.fingerprint', '=', request.fingerprint),
              where('requests.operation', '=', request.operation),
            ]),
          ]),
        ),
    )
    .returning('attempt')
    .executeTakeFirst()
  return row?.attempt
}

export const findRow = (db: Db, request: RequestKey): Promise<RequestRow | undefined> =>
  db
    .selectFrom('requests')
    .select([
      'operation',
      'fingerprint',
      'state',
      'attempt',
      'leased_until',
      'status',
      'response_sealed',
      'created_at',
    ])
    .where('scope', '=', request.scope)
    .where('key', '=', request.key)
    .executeTakeFirst()

/** Returns false when a later attempt has the lease. */
export async function saveResponse(
  db: Db | Tx,
  lease: Lease,
  status: number,
  sealed: Buffer,
): Promise<boolean> {
  const done = await db
    .updateTable('requests')
    .set({ state: 'done', status, response_sealed: sealed })
    .where('scope', '=', lease.request.scope)
    .where('key', '=', lease.request.key)
    .where('attempt', '=', lease.attempt)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

/**
 * Ends the retention of the row instead of deleting it. An earlier attempt whose lease expired may still try to store
 * its response; it must find that `attempt` has been incremented. `leased_until` stays, so that the row is not deleted soon.
 */
export async function expireRow(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable('requests')
    .set({ created_at: new Date(0) })
    .where('scope', '=', lease.request.scope)
    .where('key', '=', lease.request.key)
    .where('attempt', '=', lease.attempt)
    .where('state', '=', 'running')
    .execute()
}

/** Deletes at most `limit` rows, so that locks are short. Released rows have `created_at` 1970. */
export async function deleteRowsBefore(db: Db, before: Date, limit: number): Promise<number> {
  const done = await sql`
    delete from requests where ctid in (
      select ctid from requests where created_at < ${before} and leased_until < ${before}
      order by created_at limit ${limit} for update skip locked
    )`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

export async function findResponsesAfter(
  db: Db,
  after: RequestName | undefined,
  limit: number,
): Promise<SealedRow<RequestName>[]> {
  const rows = await db
    .selectFrom('requests')
    .select(['scope', 'key', 'response_sealed'])
    .where(sql<boolean>`(scope, key) > (${after?.scope ?? ''}, ${after?.key ?? ''})`)
    .orderBy('scope')
    .orderBy('key')
    .limit(limit)
    .execute()
  return rows.map(({ scope, key, response_sealed }) => ({ key: { scope, key }, sealed: response_sealed }))
}

/** Skips a row that is locked or whose response changed since it was read. */
export async function replaceResponses(db: Db, changes: readonly Resealing<RequestName>[]): Promise<number> {
  const done = await sql`
    with due as (
      select * from unnest(
        ${changes.map(({ key }) => key.scope)}::text[],
        ${changes.map(({ key }) => key.key)}::text[],
        ${changes.map(({ old }) => old)}::bytea[],
        ${changes.map(({ fresh }) => fresh)}::bytea[]
      ) as due (scope, key, old, fresh)
    ), locked as (
      select requests.scope, requests.key from requests
      join due on (due.scope, due.key) = (requests.scope, requests.key) and due.old = requests.response_sealed
      for no key update of requests skip locked
    )
    update requests set response_sealed = due.fresh
    from due join locked on (locked.scope, locked.key) = (due.scope, due.key)
    where (requests.scope, requests.key) = (due.scope, due.key) and requests.response_sealed = due.old`.execute(
    db,
  )
  return Number(done.numAffectedRows ?? 0n)
}
