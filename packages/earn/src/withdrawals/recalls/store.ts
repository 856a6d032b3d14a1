import type { Db, Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import { sql } from 'kysely'
import type { WithdrawalId } from '../withdrawal.ts'

/** The shares of a withdrawal that a recall redeems. */
export interface RecallPart {
  readonly withdrawalId: WithdrawalId
  readonly shares: bigint
}

export async function insertRecallPart(
  tx: Tx,
  venueTransferId: string,
  { withdrawalId, shares }: RecallPart,
): Promise<void> {
  await tx
    .insertInto('earn_recall_parts')
    .values({ venue_transfer_id: venueTransferId, withdrawal_id: withdrawalId, shares: String(shares) })
    .execute()
}

/** Those without a receipt, with their withdrawals locked. */
export async function lockRecallParts(tx: Tx, venueTransferId: string): Promise<RecallPart[]> {
  const { rows } = await sql<{ id: WithdrawalId; shares: string }>`
    select withdrawal.id, part.shares::text as shares
    from earn_recall_parts as part join earn_withdrawals as withdrawal on withdrawal.id = part.withdrawal_id
    where venue_transfer_id = ${venueTransferId} and part.amount_micros is null order by withdrawal.id for update`.execute(
    tx,
  )
  return rows.map(({ id, shares }) => ({ withdrawalId: id, shares: BigInt(shares) }))
}

/** Of a recall that reverted. */
export async function deleteRecallParts(tx: Tx, venueTransferId: string): Promise<void> {
  await tx.deleteFrom('earn_recall_parts').where('venue_transfer_id', '=', venueTransferId).execute()
}

/** What was redeemed by the receipt, and paid for it. */
export async function savePaidPart(
  tx: Tx,
  venueTransferId: string,
  { withdrawalId, shares }: RecallPart,
  amount: Usdc,
): Promise<void> {
  await tx
    .updateTable('earn_recall_parts')
    .set({ shares: String(shares), amount_micros: amount })
    .where('venue_transfer_id', '=', venueTransferId)
    .where('withdrawal_id', '=', withdrawalId)
    .execute()
}

/** Whether parts of a recall wait for its receipt, or to be given back. */
export async function hasOpenParts(db: Db | Tx, venueTransferId: string): Promise<boolean> {
  const { rows } = await sql`
    select from earn_recall_parts where venue_transfer_id = ${venueTransferId} and amount_micros is null limit 1`.execute(
    db,
  )
  return rows.length > 0
}
