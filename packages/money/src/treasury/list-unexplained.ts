import type { Needs } from '@market/core/context'
import { type Page, pageOf, readCursor } from './cursor.ts'
import { findUnexplained, type ListedOutgoingTransfer, nameOfOutgoingTransfer } from './store.ts'

const SENDING = /^(solana|base|alt)-mainnet:[0-9A-Za-z]{64,88}$/

/**
 * Payments out of the treasuries that stay on the chain, settle no payout of these books and are not booked as a loss.
 * Oldest first. One that became final a moment ago stands here until its payout is settled.
 */
export async function listUnexplained(
  { db }: Needs<'db'>,
  { limit, cursor }: Page,
): Promise<{ rows: ListedOutgoingTransfer[]; nextCursor: string | null }> {
  const found = await findUnexplained(db, limit + 1, readCursor(cursor, SENDING))
  return pageOf(found, limit, (sending) => ({
    at: sending.happenedAt,
    name: nameOfOutgoingTransfer(sending),
  }))
}
