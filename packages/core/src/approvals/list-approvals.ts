import { idField, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { Needs } from '../context.ts'
import { type Approval, stateAt } from './approval.ts'
import { findApprovals } from './store.ts'

const CURSOR = newestFirst('approvals', idField('apr'))

/** Newest first; without `all`, those that can still be decided. */
export async function listApprovals(
  ctx: Needs<'db' | 'clock'>,
  query: PageRequest & { readonly all: boolean },
): Promise<{ approvals: Approval[]; nextCursor: string | null }> {
  const now = ctx.clock.now()
  const after = CURSOR.decode(query.cursor)
  const found = await findApprovals(ctx.db, query.all ? undefined : now, { limit: query.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { approvals: rows.map((approval) => ({ ...approval, state: stateAt(approval, now) })), nextCursor }
}
