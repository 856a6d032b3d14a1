import type { SignedTransfer } from '@market/core/ports/payout-sender'
import type { Db, Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import type { Payout, StoredSignature } from '../payout.ts'

/** Of the round the payout is in. */
export async function findSignatures(db: Db | Tx, { id, round }: Payout): Promise<StoredSignature[]> {
  const rows = await db
    .selectFrom('payout_signatures')
    .selectAll()
    .where('payout_id', '=', id)
    .where('round', '=', round)
    .orderBy('n')
    .execute()
  return rows.map((row) => ({
    reference: row.reference,
    bytes: row.bytes,
    nonce: row.nonce,
    lastValidHeight: row.last_valid_height,
    maxFeePerGas: row.max_fee_per_gas === null ? null : BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: row.max_priority_fee_per_gas === null ? null : BigInt(row.max_priority_fee_per_gas),
    createdAt: row.created_at,
  }))
}

/** False when another worker stored its signature first: then these bytes must never be broadcast. */
export async function insertSignature(
  tx: Tx,
  payout: Payout,
  n: number,
  signed: SignedTransfer,
  at: Date,
): Promise<boolean> {
  const done = await tx
    .insertInto('payout_signatures')
    .values({
      network: payout.network,
      reference: signed.reference,
      payout_id: payout.id,
      round: payout.round,
      n,
      bytes: signed.bytes,
      nonce: signed.nonce,
      last_valid_height: signed.lastValidHeight,
      max_fee_per_gas: signed.maxFeePerGas?.toString() ?? null,
      max_priority_fee_per_gas: signed.maxPriorityFeePerGas?.toString() ?? null,
      created_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return done.numInsertedOrUpdatedRows === 1n
}

/** Marks signatures that did not take effect and no longer can. */
export async function saveDead(tx: Tx, network: Network, dead: readonly SignedTransfer[]): Promise<void> {
  if (dead.length === 0) return
  await tx
    .updateTable('payout_signatures')
    .set({ is_dead: true })
    .where('network', '=', network)
    .where(
      'reference',
      'in',
      dead.map(({ reference }) => reference),
    )
    .execute()
}
