import type { Db, Tx } from '@market/database/transact'
import type { UploadId } from '@market/kernel/ids'
import { sql } from 'kysely'
import type { FileOwner, MediaType, Upload } from './upload.ts'

/** An upload before its bytes are stored. */
export type NewUpload = Pick<Upload, 'id' | 'owner' | 'fileName' | 'mediaType' | 'createdAt'>

/** What an owner has uploaded on a day. */
export interface Totals {
  readonly files: number
  readonly bytes: number
}

interface StoredRow {
  readonly id: string
  readonly owner: string
  readonly file_name: string
  readonly media_type: string
  readonly size_bytes: bigint | null
  readonly sha256: Buffer | null
  readonly is_private: boolean | null
  readonly used_for: string | null
  readonly created_at: Date
}

const fromRow = (row: StoredRow): Upload => ({
  id: row.id as UploadId,
  owner: row.owner as FileOwner,
  fileName: row.file_name,
  mediaType: row.media_type as MediaType,
  size: Number(row.size_bytes),
  sha256: row.sha256?.toString('hex') ?? '',
  isPrivate: row.is_private,
  usedFor: row.used_for as Upload['usedFor'],
  createdAt: row.created_at,
})

export async function insertPending(tx: Tx, upload: NewUpload): Promise<void> {
  await tx
    .insertInto('uploads')
    .values({
      id: upload.id,
      owner: upload.owner,
      file_name: upload.fileName,
      media_type: upload.mediaType,
      state: 'pending',
      created_at: upload.createdAt,
    })
    .execute()
}

/** False when the sweep has taken the row meanwhile. */
export async function saveStored(
  tx: Tx,
  id: UploadId,
  { size, sha256 }: Pick<Upload, 'size' | 'sha256'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('uploads')
    .set({ state: 'stored', size_bytes: BigInt(size), sha256: Buffer.from(sha256, 'hex') })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function findStored(db: Db | Tx, ids: readonly UploadId[]): Promise<Upload[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('uploads')
    .selectAll()
    .where('id', 'in', [...ids])
    .where('state', '=', 'stored')
    .execute()
  return rows.map(fromRow)
}

/**
 * Marks stored files of the owner as used, and returns how many there were. Rows are locked in the order of their ids, so
 * that two orders with the same files do not wait for each other.
 */
export async function saveUsed(
  tx: Tx,
  owner: FileOwner,
  ids: readonly UploadId[],
  use: { readonly usedFor: 'reference' | 'deliverable'; readonly isPrivate: boolean; readonly at: Date },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with found as (
      select id from uploads
      where id = any(${[...ids]}) and owner = ${owner} and state = 'stored'
        and (is_private is null or is_private = ${use.isPrivate})
      order by id for update
    )
    update uploads set
      used_at = coalesce(used_at, ${use.at}),
      used_for = case when used_for = 'deliverable' then used_for else ${use.usedFor} end,
      is_private = ${use.isPrivate}
    from found where uploads.id = found.id`.execute(tx)
  return Number(numAffectedRows)
}

export async function insertUses(tx: Tx, ids: readonly UploadId[], subject: string): Promise<void> {
  await tx
    .insertInto('upload_uses')
    .values(ids.map((id) => ({ upload_id: id, subject })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What refers to files and has not ended, after `after` in the order of ids. */
export async function findOpenSubjects(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('upload_uses')
    .select('subject')
    .distinct()
    .where('ended', '=', false)
    .where('subject', '>', after)
    .orderBy('subject')
    .limit(limit)
    .execute()
  return rows.map(({ subject }) => subject)
}

/** Keeps the files of what ended with a payment for good. */
export async function saveEnded(tx: Tx, subjects: readonly string[]): Promise<void> {
  await tx
    .updateTable('upload_uses')
    .set({ ended: true })
    .where('subject', 'in', [...subjects])
    .where('ended', '=', false)
    .execute()
}

/** Takes the files out of use that only these subjects referred to. Rows are locked in the order of `saveUsed`. */
export async function removeUses(tx: Tx, subjects: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: UploadId }>`
    select id from uploads
    where id in (select upload_id from upload_uses where subject = any(${[...subjects]}) and not ended)
    order by id for update`.execute(tx)
  const ids = rows.map(({ id }) => id)
  await sql`delete from upload_uses where subject = any(${[...subjects]}) and not ended`.execute(tx)
  await sql`
    update uploads set state = 'deleting', used_at = null, used_for = null, is_private = null
    where id = any(${ids}) and not exists (select from upload_uses where upload_id = uploads.id)`.execute(tx)
}

export async function findTotals(db: Db | Tx, owner: FileOwner, day: string): Promise<Totals> {
  const { rows } = await sql<{ files: number; bytes: bigint }>`
    select files, bytes from upload_totals where day = ${day}::date and owner = ${owner}`.execute(db)
  const [row] = rows
  return row === undefined ? { files: 0, bytes: 0 } : { files: row.files, bytes: Number(row.bytes) }
}

/** Counts one more file, and returns the new totals. */
export async function addToTotals(tx: Tx, owner: FileOwner, day: string, size: number): Promise<Totals> {
  const { rows } = await sql<{ files: number; bytes: bigint }>`
    insert into upload_totals as total (day, owner, files, bytes) values (${day}::date, ${owner}, 1, ${size})
    on conflict (day, owner) do update set files = total.files + 1, bytes = total.bytes + excluded.bytes
    returning files, bytes`.execute(tx)
  const [row] = rows
  return { files: row?.files ?? 0, bytes: Number(row?.bytes ?? 0) }
}

/** Takes files that nothing refers to out of use, and returns those whose objects must be deleted. */
export async function markDeleting(
  tx: Tx,
  before: { readonly pending: Date; readonly unused: Date },
  limit: number,
): Promise<UploadId[]> {
  const { rows } = await sql<{ id: UploadId }>`
    with found as (
      select id from uploads
      where used_at is null and (
        state = 'deleting' or created_at < ${before.unused} or (state = 'pending' and created_at < ${before.pending})
      )
      order by created_at limit ${limit} for update skip locked
    )
    update uploads set state = 'deleting' from found where uploads.id = found.id returning uploads.id`.execute(
    tx,
  )
  return rows.map(({ id }) => id)
}

/** The references of owners who deleted their account. The sweep deletes the files. */
export async function markReferencesDeleting(tx: Tx, owners: readonly FileOwner[]): Promise<void> {
  await tx
    .updateTable('uploads')
    .set({ state: 'deleting', used_at: null, used_for: null, is_private: null })
    .where('owner', 'in', [...owners])
    .where('used_for', '=', 'reference')
    .execute()
}

export async function removeUpload(tx: Tx, id: UploadId): Promise<void> {
  await tx.deleteFrom('uploads').where('id', '=', id).where('used_at', 'is', null).execute()
}

/** Deletes up to `limit` totals of earlier days, and returns how many. */
export async function removeTotalsBefore(tx: Tx, day: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from upload_totals where ctid in (
      select ctid from upload_totals where day < ${day}::date order by day limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}
