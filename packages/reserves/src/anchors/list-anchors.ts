import type { Needs } from '@market/core/context'
import { cursorCodec, type NextCursor, type PageRequest, textField } from '@market/kernel/cursor'
import { findAnchors, type ListedAnchor } from './store.ts'

const ANCHORS = cursorCodec<{ day: string }>('anchors', { day: textField(/^\d{4}-\d{2}-\d{2}$/) })

/** The texts of all days, newest first. */
export async function listAnchors(
  { db }: Needs<'db'>,
  { limit, cursor }: PageRequest,
): Promise<{ readonly rows: ListedAnchor[]; readonly nextCursor: NextCursor }> {
  const found = await findAnchors(db, ANCHORS.decode(cursor)?.day, limit + 1)
  return ANCHORS.pageOf(found, limit, ({ day }) => ({ day }))
}
