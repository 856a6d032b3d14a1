import type { Db } from '@market/database/transact'
import type { Status } from './states.ts'

/** A paid order that ended or is in escrow; nobody was paid for a cancelled one. */
const PAID: readonly Status[] = [
  'paid',
  'in_progress',
  'delivered',
  'revision_requested',
  'disputed',
  'completed',
]

export interface OrderEnd {
  readonly id: string
  readonly isPaid: boolean
  readonly at: Date
}

/** Which of the orders ended, and whether the agent was paid. */
export async function findOrderEnds(db: Db, ids: readonly string[]): Promise<OrderEnd[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('orders')
    .select(['id', 'status', 'closed_at', 'updated_at'])
    .where('id', 'in', [...ids])
    .where('status', 'in', ['completed', 'cancelled'])
    .execute()
  return rows.map(({ id, status, closed_at: closedAt, updated_at: updatedAt }) => ({
    id,
    isPaid: status === 'completed',
    at: closedAt ?? updatedAt,
  }))
}

/** Whether the caller has bought or sold something that is paid: in escrow or completed. */
export async function hasPaidOrder(db: Db, caller: string): Promise<boolean> {
  const paid = db.selectFrom('orders').select('id').where('status', 'in', PAID).limit(1)
  const bought = await paid.where('buyer', '=', caller).executeTakeFirst()
  if (bought !== undefined) return true
  if (!caller.startsWith('agent:')) return false
  return (await paid.where('agent_id', '=', caller.slice('agent:'.length)).executeTakeFirst()) !== undefined
}
