import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import { formatPurpose, type Purpose } from '../../payments/index.ts'
import type { PayoutId } from '../payout.ts'

/** Marks a payout whose next step is due because of something that happened, maybe while another step was under way. */
const WOKEN = new Date(0)

/** Due payouts. Each is given its next due time, so that no two workers get it at once. */
export async function reserveDue(
  tx: Tx,
  network: Network,
  at: { now: Date; next: Date },
  limit: number,
): Promise<PayoutId[]> {
  const { rows } = await sql<{ id: PayoutId }>`
    update payouts set due_at = ${at.next} where id in (
      select id from payouts
      where state in ('queued', 'held', 'signed') and network = ${network} and due_at <= ${at.now}
      order by due_at limit ${limit} for update skip locked
    ) returning id`.execute(tx)
  return rows.map((row) => row.id)
}

/** Keeps one that was woken since its step began. */
export async function saveDue(tx: Tx, id: PayoutId, at: Date): Promise<void> {
  await tx
    .updateTable('payouts')
    .set({ due_at: at })
    .where('id', '=', id)
    .where('due_at', '>', WOKEN)
    .execute()
}

/** The chain shows payments with these marks, so the next step of their payouts is due. */
export async function wakeMarked(tx: Tx, marks: readonly string[]): Promise<void> {
  if (marks.length === 0) return
  await tx
    .updateTable('payouts')
    .set({ due_at: WOKEN })
    .where('mark', '=', sql<string>`any(${marks}::text[])`)
    .execute()
}

/** Payments became final, so the payouts that they fund can leave. */
export async function wakeFunded(tx: Tx, purposes: readonly Purpose[]): Promise<void> {
  if (purposes.length === 0) return
  await tx
    .updateTable('payouts')
    .set({ due_at: WOKEN })
    .where('purpose', '=', sql<string>`any(${purposes.map(formatPurpose)}::text[])`)
    .where('state', 'in', ['queued', 'held'])
    .execute()
}
