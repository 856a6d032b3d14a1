import type { SignedPayout } from '@market/core/ports/payout-sender'
import type { Db, Tx } from '@market/database/transact'
import { paysMarkOnce } from '@market/kernel/payout-mark'
import { sql } from 'kysely'
import type { Payout, StoredSignature } from '../payout.ts'

/** Solana: whether the transaction pays other payouts too. */
const IS_SHARED = sql<boolean>`exists (
  select from payout_signatures as other
  where other.network = payout_signatures.network and other.reference = payout_signatures.reference
    and other.transfer_index <> payout_signatures.transfer_index)`

/** Of the round the payout is in. */
export async function findSignatures(db: Db | Tx, { id, round }: Payout): Promise<StoredSignature[]> {
  const rows = await db
    .selectFrom('payout_signatures')
    .select(['reference', 'bytes', 'valid_to', 'created_at', IS_SHARED.as('is_shared')])
    .where('payout_id', '=', id)
    .where('round', '=', round)
    .orderBy('n')
    .execute()
  return rows.map((row) => ({
    reference: row.reference,
    bytes: row.bytes,
    validTo: row.valid_to,
    createdAt: row.created_at,
    isShared: row.is_shared,
  }))
}

/** False when another worker stored its signature first: then these bytes must never be sent. */
export async function insertSignature(
  tx: Tx,
  payout: Payout,
  n: number,
  signed: SignedPayout & { readonly index?: number | undefined },
  at: Date,
): Promise<boolean> {
  const done = await tx
    .insertInto('payout_signatures')
    .values({
      network: payout.network,
      reference: signed.reference,
      transfer_index: signed.index ?? 0,
      payout_id: payout.id,
      round: payout.round,
      n,
      bytes: signed.bytes,
      valid_to: signed.validTo,
      submit_at: paysMarkOnce(payout.network) ? at : null,
      created_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

/** What was signed in this round did not take effect and no longer can. */
export async function saveDead(tx: Tx, { id, round }: Payout): Promise<void> {
  await tx
    .updateTable('payout_signatures')
    .set({ is_dead: true })
    .where('payout_id', '=', id)
    .where('round', '=', round)
    .execute()
}
