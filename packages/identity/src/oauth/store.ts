import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { type Selectable, sql } from 'kysely'
import type { Grant, GrantChange, NewGrant } from './grant.ts'

const grantOf = (row: Selectable<Tables['oauth_grants']>): Grant => ({
  id: row.id,
  userId: row.idp_user_id,
  agentId: row.agent_id as AgentId | null,
  clientId: row.client_id,
  clientName: row.client_name,
  redirectHost: row.redirect_host,
  scopes: row.scopes,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  endedAt: row.ended_at,
})

/** False when the grant exists: another request of the same interaction was faster. */
export async function insertGrant(tx: Tx, grant: NewGrant, createdAt: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('oauth_grants')
    .values({
      id: grant.id,
      idp_user_id: grant.userId,
      agent_id: grant.agentId,
      client_id: grant.clientId,
      client_name: grant.clientName,
      redirect_host: grant.redirectHost,
      scopes: [...grant.scopes],
      created_at: createdAt,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** A grant that was not ended, of an account that was not deleted. */
export async function findOpenGrant(db: Db | Tx, id: string): Promise<Grant | undefined> {
  const row = await openGrants(db).where('oauth_grants.id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : grantOf(row)
}

/** The grants of a user that are open or ended after `since`: open ones first, then the newest. */
export async function findGrantsOf(db: Db, userId: string, since: Date): Promise<Grant[]> {
  const rows = await db
    .selectFrom('oauth_grants')
    .selectAll()
    .where('idp_user_id', '=', userId)
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', since)]))
    .orderBy('ended_at', (order) => order.desc().nullsFirst())
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map(grantOf)
}

export async function upsertChange(tx: Tx, grantId: string, change: GrantChange): Promise<void> {
  const { operation, subject, fields, changedAt } = change
  await tx
    .insertInto('oauth_changes')
    .values({ grant_id: grantId, operation, subject, fields: [...fields], changed_at: changedAt })
    .onConflict((conflict) =>
      conflict.columns(['grant_id', 'operation', 'subject', 'fields']).doUpdateSet({ changed_at: changedAt }),
    )
    .execute()
}

/** The newest first. */
export async function findChangesOf(db: Db, grantId: string, limit: number): Promise<GrantChange[]> {
  const rows = await db
    .selectFrom('oauth_changes')
    .selectAll()
    .where('grant_id', '=', grantId)
    .orderBy('changed_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ operation, subject, fields, changed_at }) => ({
    ...{ operation, subject, fields },
    changedAt: changed_at,
  }))
}

const openGrants = (db: Db | Tx) =>
  db
    .selectFrom('oauth_grants')
    .innerJoin('users', 'users.idp_user_id', 'oauth_grants.idp_user_id')
    .selectAll('oauth_grants')
    .where('oauth_grants.ended_at', 'is', null)
    .where('users.deleted_at', 'is', null)

/** Written at most once a minute. */
export async function saveLastUse(tx: Tx, id: string, at: Date, unlessAfter: Date): Promise<void> {
  await tx
    .updateTable('oauth_grants')
    .set({ last_used_at: at })
    .where('id', '=', id)
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', unlessAfter)]))
    .execute()
}

/** Ends the grant and deletes its codes and tokens. Returns whether it was open. */
export async function endGrant(tx: Tx, id: string, at: Date): Promise<boolean> {
  const done = await tx
    .updateTable('oauth_grants')
    .set({ ended_at: at })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  await tx.deleteFrom('oauth_records').where('grant_id', '=', id).execute()
  await tx.deleteFrom('oauth_records').where('model', '=', 'Grant').where('id', '=', id).execute()
  return done.numUpdatedRows === 1n
}

/** The grants of a user who deletes the account, with all that belongs to them. */
export async function deleteGrantsOf(tx: Tx, userId: string): Promise<void> {
  const grants = await tx
    .deleteFrom('oauth_grants')
    .where('idp_user_id', '=', userId)
    .returning('id')
    .execute()
  const ids = grants.map(({ id }) => id)
  if (ids.length === 0) return
  await tx.deleteFrom('oauth_records').where('grant_id', 'in', ids).execute()
  await tx.deleteFrom('oauth_records').where('model', '=', 'Grant').where('id', 'in', ids).execute()
}

export interface OAuthRecord {
  readonly model: string
  readonly id: string
  readonly payload: string
  readonly grantId: string | null
  readonly expiresAt: Date | null
}

export async function upsertRecord(tx: Tx, record: OAuthRecord, at: Date): Promise<void> {
  const { model, id, payload, grantId, expiresAt } = record
  const values = { payload, grant_id: grantId, expires_at: expiresAt }
  await tx
    .insertInto('oauth_records')
    .values({ model, id, ...values, created_at: at })
    .onConflict((conflict) => conflict.columns(['model', 'id']).doUpdateSet(values))
    .execute()
}

export const findUnexpiredRecord = (db: Db, model: string, id: string, at: Date) =>
  db
    .selectFrom('oauth_records')
    .select(['payload', 'consumed_at'])
    .where('model', '=', model)
    .where('id', '=', id)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', at)]))
    .executeTakeFirst()

/** Returns whether this call was the first. */
export async function saveConsumed(tx: Tx, model: string, id: string, at: Date): Promise<boolean> {
  const done = await tx
    .updateTable('oauth_records')
    .set({ consumed_at: at })
    .where('model', '=', model)
    .where('id', '=', id)
    .where('consumed_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function removeRecord(tx: Tx, model: string, id: string): Promise<void> {
  await tx.deleteFrom('oauth_records').where('model', '=', model).where('id', '=', id).execute()
}

/** Deletes up to `limit` records that expired, and returns how many. */
export async function removeExpiredRecords(tx: Tx, now: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from oauth_records where ctid in (
      select ctid from oauth_records where expires_at < ${now}
      order by expires_at limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/** Deletes up to `limit` clients without an open grant that were registered before `unusedSince`, and returns how many. */
export async function removeUnusedClients(tx: Tx, unusedSince: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from oauth_records where ctid in (
      select ctid from oauth_records
      where model in ('Client', 'RegistrationAccessToken') and created_at < ${unusedSince} and not exists (
        select from oauth_grants where oauth_grants.client_id = oauth_records.id and oauth_grants.ended_at is null
      )
      limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/**
 * Ends up to `limit` grants from before `before` whose programs have no refresh token any more, so that nobody sees a dead
 * connection. Returns how many.
 */
export async function endUnusableGrants(
  tx: Tx,
  { now, before }: { readonly now: Date; readonly before: Date },
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update oauth_grants set ended_at = ${now} where id in (
      select id from oauth_grants
      where ended_at is null and created_at < ${before}
        and not exists (select from oauth_records where oauth_records.grant_id = oauth_grants.id)
      limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/** Until the commit no other process makes a key. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('oauth_keys'))`.execute(tx)
}

/** The newest first. */
export const findKeys = (db: Db | Tx) =>
  db.selectFrom('oauth_keys').selectAll().orderBy('created_at', 'desc').execute()

export async function insertKeys(tx: Tx, id: string, sealed: Buffer, at: Date): Promise<void> {
  await tx.insertInto('oauth_keys').values({ id, keys_sealed: sealed, created_at: at }).execute()
}

export async function deleteKeysBefore(tx: Tx, at: Date): Promise<void> {
  await tx.deleteFrom('oauth_keys').where('created_at', '<', at).execute()
}

export const findKeysAfter = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('oauth_keys')
    .select(['id as key', 'keys_sealed as sealed'])
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Returns whether the keys were still sealed as `old`. */
export async function replaceKeys(tx: Tx, id: string, old: Buffer, fresh: Buffer): Promise<boolean> {
  const done = await tx
    .updateTable('oauth_keys')
    .set({ keys_sealed: fresh })
    .where('id', '=', id)
    .where('keys_sealed', '=', old)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}
