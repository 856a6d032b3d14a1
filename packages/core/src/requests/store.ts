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

/** The attempt's number when the key was free, or its lease or its keeping had run out; else undefined. */
export async function takeRow(
  db: Db,
  request: RequestKey,
  at: { now: Date; leasedUntil: Date; keptSince: Date },
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
          created_at: at.now,
          attempt: sql<number>`requests.attempt + 1`,
        })
        .where((where) =>
          where.or([
            where('requests.created_at', '<', at.keptSince),
            where.and([
              where('requests.state', '=', 'running'),
              where('requests.leased_until', '<', at.now),
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

/** False when the lease went to another in the meantime. */
export async function finishRow(db: Db | Tx, lease: Lease, status: number, sealed: Buffer): Promise<boolean> {
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
 * The row stays, so that its attempts go on counting; only its keeping ends. The lease's time is left as it was:
 * until it is long past, somebody who held the key before may still come back, and must find the count.
 */
export async function releaseRow(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable('requests')
    .set({ created_at: new Date(0) })
    .where('scope', '=', lease.request.scope)
    .where('key', '=', lease.request.key)
    .where('attempt', '=', lease.attempt)
    .where('state', '=', 'running')
    .execute()
}

export async function insertSignature(
  tx: Tx,
  used: { walletKey: string; purpose: string; signedAtMs: number; at: Date },
): Promise<boolean> {
  const done = await tx
    .insertInto('used_signatures')
    .values({
      wallet_key: used.walletKey,
      purpose: used.purpose,
      signed_at_ms: BigInt(used.signedAtMs),
      used_at: used.at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

/** In small batches, so that no lock is held for long. Released rows carry the beginning of time. */
export async function deleteOlder(
  db: Db,
  table: 'requests' | 'used_signatures',
  before: Date,
  limit: number,
): Promise<number> {
  const column = table === 'requests' ? 'created_at' : 'used_at'
  const isOver = table === 'requests' ? sql`leased_until < ${before}` : sql`true`
  const done = await sql`
    delete from ${sql.table(table)} where ctid in (
      select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before} and ${isOver}
      order by ${sql.ref(column)} limit ${limit} for update skip locked
    )`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}

export async function findAnswersAfter(
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

/** A row that somebody holds, or whose answer changed since it was read, is left as it is. */
export async function replaceAnswers(db: Db, changes: readonly Resealing<RequestName>[]): Promise<number> {
  const done = await sql`
    with due as (
      select * from unnest(
        ${changes.map(({ key }) => key.scope)}::text[],
        ${changes.map(({ key }) => key.key)}::text[],
        ${changes.map(({ old }) => old)}::bytea[],
        ${changes.map(({ fresh }) => fresh)}::bytea[]
      ) as due (scope, key, old, fresh)
    ), held as (
      select requests.scope, requests.key from requests
      join due on (due.scope, due.key) = (requests.scope, requests.key) and due.old = requests.response_sealed
      for no key update of requests skip locked
    )
    update requests set response_sealed = due.fresh
    from due join held on (held.scope, held.key) = (due.scope, due.key)
    where (requests.scope, requests.key) = (due.scope, due.key) and requests.response_sealed = due.old`.execute(
    db,
  )
  return Number(done.numAffectedRows ?? 0n)
}
