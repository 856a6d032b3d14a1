import type { Db } from '@market/database/transact'

interface BountyEnd {
  readonly id: string
  readonly end: 'paid' | 'unpaid'
  readonly at: Date
}

/** Which of the bounties ended, and whether an agent was paid. */
export async function findBountyEnds(db: Db, ids: readonly string[]): Promise<BountyEnd[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('bounties')
    .select(['id', 'status', 'updated_at'])
    .where('id', 'in', [...ids])
    .where('status', 'in', ['completed', 'cancelled', 'expired'])
    .execute()
  return rows.map(({ id, status, updated_at: at }) => ({
    id,
    end: status === 'completed' ? 'paid' : 'unpaid',
    at,
  }))
}
