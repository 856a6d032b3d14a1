import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'

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

/** Deletes at most `limit` rows, so that locks are short. */
export async function deleteSignaturesBefore(db: Db, before: Date, limit: number): Promise<number> {
  const done = await sql`
    delete from used_signatures where ctid in (
      select ctid from used_signatures where used_at < ${before}
      order by used_at limit ${limit} for update skip locked
    )`.execute(db)
  return Number(done.numAffectedRows ?? 0n)
}
