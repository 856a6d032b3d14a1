import type { Needs } from '@market/core/context'
import { type Page, pageOf, readCursor } from './cursor.ts'
import { findUnmatched, type UnmatchedMoney } from './store.ts'

const ACCOUNT = /^(suspense|surplus):(solana|base|alt)-mainnet:[0-9A-Za-z]{64,88}$/

/** What arrived and nobody has claimed, or was paid beyond what was due, and is still here. Oldest first. */
export async function listUnmatched(
  { db }: Needs<'db'>,
  { limit, cursor }: Page,
): Promise<{ rows: UnmatchedMoney[]; nextCursor: string | null }> {
  const found = await findUnmatched(db, limit + 1, readCursor(cursor, ACCOUNT))
  return pageOf(found, limit, ({ happenedAt, account }) => ({ at: happenedAt, name: account }))
}
