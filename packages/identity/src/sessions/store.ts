import type { Resealing } from '@market/core/reseal'
import type { Tables } from '@market/database/tables'
import { type Db, type Tx, transact } from '@market/database/transact'
import { type Insertable, type Selectable, sql } from 'kysely'
import type { SealedToken } from './session.ts'

export type SessionRow = Selectable<Tables['sessions']>

export async function insertSession(tx: Tx, row: Insertable<Tables['sessions']>): Promise<void> {
  await tx.insertInto('sessions').values(row).execute()
}

export const findSession = (db: Db, id: string, now: Date): Promise<SessionRow | undefined> =>
  db.selectFrom('sessions').selectAll().where('id', '=', id).where('expires_at', '>', now).executeTakeFirst()

/** Returns whether this request refreshes: nobody else does, and the token is still the one that it saw. */
export async function leaseRefresh(
  tx: Tx,
  { id, access_expires_at: seen }: SessionRow,
  now: Date,
  until: Date,
): Promise<boolean> {
  const done = await tx
    .updateTable('sessions')
    .set({ refreshing_until: until })
    .where('id', '=', id)
    .where('access_expires_at', '=', seen)
    .where((where) => where.or([where('refreshing_until', 'is', null), where('refreshing_until', '<', now)]))
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export interface SealedTokens {
  readonly access_token_sealed: Buffer
  readonly refresh_token_sealed: Buffer | null
  readonly access_expires_at: Date
}

/** Saves refreshed tokens. False when the session ended meanwhile. */
export async function saveTokens(tx: Tx, id: string, tokens: SealedTokens): Promise<boolean> {
  const done = await tx
    .updateTable('sessions')
    .set({ ...tokens, refreshing_until: null })
    .where('id', '=', id)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

export async function endLease(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('sessions').set({ refreshing_until: null }).where('id', '=', id).execute()
}

export async function saveChecked(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('sessions').set({ checked_at: at }).where('id', '=', id).execute()
}

export const deleteSession = (tx: Tx, id: string): Promise<SessionRow | undefined> =>
  tx.deleteFrom('sessions').where('id', '=', id).returningAll().executeTakeFirst()

/** Deletes the sessions of a user and of wallets. */
export const deleteSessions = (
  tx: Tx,
  userId: string | undefined,
  wallets: readonly string[],
): Promise<SessionRow[]> =>
  tx
    .deleteFrom('sessions')
    .where((where) =>
      where.or([
        ...(userId === undefined ? [] : [where('idp_user_id', '=', userId)]),
        ...(wallets.length === 0 ? [] : [where('wallet_key', 'in', [...wallets])]),
      ]),
    )
    .returningAll()
    .execute()

/** Deletes up to `limit` sessions, and returns how many. */
export async function deleteExpired(tx: Tx, now: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from sessions where id in (
      select id from sessions where expires_at <= ${now} order by expires_at limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

export const findSealedAfter = (db: Db, field: SealedToken, after: string | undefined, limit: number) =>
  db
    .selectFrom('sessions')
    .select(['id as key', `${field}_sealed as sealed`])
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Replaces values that are unchanged, and returns how many. */
export const replaceSealed = (
  db: Db,
  field: SealedToken,
  changes: readonly Resealing<string>[],
): Promise<number> =>
  transact(db, async (tx) => {
    let replaced = 0
    for (const { key, old, fresh } of changes) {
      const done = await tx
        .updateTable('sessions')
        .set({ [`${field}_sealed`]: fresh })
        .where('id', '=', key)
        .where(`${field}_sealed`, '=', old)
        .executeTakeFirst()
      replaced += Number(done.numUpdatedRows)
    }
    return replaced
  })
