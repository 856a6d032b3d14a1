import type { Db, Tx } from '@market/database/transact'
import type { Entry } from './entry.ts'

export interface Head {
  readonly seq: bigint
  readonly seal: Buffer
}

export interface SealedEntry extends Entry {
  readonly seq: bigint
  readonly seal: Buffer
}

export const lockHead = (tx: Tx): Promise<Head> =>
  tx.selectFrom('audit_head').select(['seq', 'seal']).forUpdate().executeTakeFirstOrThrow()

export const findHead = (db: Db): Promise<Head> =>
  db.selectFrom('audit_head').select(['seq', 'seal']).executeTakeFirstOrThrow()

export const findSeal = (db: Db, seq: bigint): Promise<Head | undefined> =>
  db.selectFrom('audit_log').select(['seq', 'seal']).where('seq', '=', seq).executeTakeFirst()

export async function insertEntry(tx: Tx, seq: bigint, entry: Entry, seal: Buffer): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      seq,
      at: entry.at,
      actor: entry.actor,
      credential: entry.credential === null ? null : JSON.stringify(entry.credential),
      act: entry.act,
      subject: entry.subject,
      request_id: entry.requestId,
      details: JSON.stringify(entry.details),
      seal,
    })
    .execute()
}

export async function saveHead(tx: Tx, seq: bigint, seal: Buffer): Promise<void> {
  await tx.updateTable('audit_head').set({ seq, seal }).execute()
}

export async function findEntriesAfter(db: Db, seq: bigint, limit: number): Promise<SealedEntry[]> {
  const rows = await db
    .selectFrom('audit_log')
    .selectAll()
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    credential: row.credential as Record<string, unknown> | null,
    act: row.act,
    subject: row.subject,
    requestId: row.request_id,
    details: row.details as Record<string, unknown>,
    seal: row.seal,
  }))
}
