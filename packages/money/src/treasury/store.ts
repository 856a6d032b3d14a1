import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'

export interface RefundRequest {
  readonly unmatchedId: string
  /** The wallet that signed the claim, and to which the claimant wants the money. */
  readonly wallet: string
  readonly note: string
  readonly createdAt: Date
}

/** A repeated claim replaces its note. Returns false when the money has as many claims as operators will read. */
export async function saveClaim(tx: Tx, claim: RefundRequest, most: number): Promise<boolean> {
  const { unmatchedId, wallet, note, createdAt } = claim
  const { numAffectedRows } = await sql`
    insert into refund_requests (unmatched_id, wallet, note, created_at)
    select ${unmatchedId}, ${wallet}, ${note}, ${createdAt}
    where (select count(*) from refund_requests where unmatched_id = ${unmatchedId} and wallet <> ${wallet}) < ${most}
    on conflict (unmatched_id, wallet) do update set note = excluded.note, created_at = excluded.created_at`.execute(
    tx,
  )
  return numAffectedRows === 1n
}

/** Oldest first. */
export async function findClaims(db: Db, unmatchedIds: readonly string[]): Promise<RefundRequest[]> {
  if (unmatchedIds.length === 0) return []
  const rows = await db
    .selectFrom('refund_requests')
    .selectAll()
    .where('unmatched_id', 'in', unmatchedIds)
    .orderBy('created_at')
    .orderBy('wallet')
    .execute()
  return rows.map((row) => ({
    unmatchedId: row.unmatched_id,
    wallet: row.wallet,
    note: row.note,
    createdAt: row.created_at,
  }))
}
