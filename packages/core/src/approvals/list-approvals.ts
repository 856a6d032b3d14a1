import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import { COUNT_LIMIT } from '@market/kernel/waiting'
import type { Needs } from '../context.ts'
import { type Approval, stateAt } from './approval.ts'
import { findApprovals } from './store.ts'

export interface PendingApprovals {
  /** Counted up to `COUNT_LIMIT`. */
  readonly count: number
  readonly oldest: Date | null
  readonly nextExpiry: Date | null
}

/** What still waits for a second operator. */
export async function countPending(ctx: Needs<'db' | 'clock'>): Promise<PendingApprovals> {
  const found = await findApprovals(ctx.db, ctx.clock.now(), { limit: COUNT_LIMIT, after: undefined })
  // Newest first, and all expire after the same time.
  const oldest = found.at(-1)
  return {
    count: found.length,
    oldest: oldest?.createdAt ?? null,
    nextExpiry: oldest?.expiresAt ?? null,
  }
}

const CURSOR = newestFirst('approvals', idField('apr'))

/** Newest first; without `all`, those that can still be decided. */
export async function listApprovals(
  ctx: Needs<'db' | 'clock'>,
  query: PageRequest & { readonly all: boolean },
): Promise<{ approvals: Approval[]; nextCursor: NextCursor }> {
  const now = ctx.clock.now()
  const after = CURSOR.decode(query.cursor)
  const found = await findApprovals(ctx.db, query.all ? undefined : now, { limit: query.limit + 1, after })
  const { rows, nextCursor } = CURSOR.pageOf(found, query.limit)
  return { approvals: rows.map((approval) => ({ ...approval, state: stateAt(approval, now) })), nextCursor }
}
