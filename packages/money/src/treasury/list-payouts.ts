import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { type Page, pageOf, readCursor } from './cursor.ts'
import { findPayouts, type ListedPayout, type OpenState } from './store.ts'

const PAYOUT = /^pay_[0-9a-z]{32}$/

interface WantedPayouts extends Page {
  readonly states?: readonly OpenState[] | undefined
  readonly network?: Network | undefined
}

/** Those a person may have to look at. */
const USUAL: readonly OpenState[] = ['failed', 'held']

/** Payouts that are not over, oldest first. */
export async function listPayouts(
  { db }: Needs<'db'>,
  { states = USUAL, network, limit, cursor }: WantedPayouts,
): Promise<{ rows: ListedPayout[]; nextCursor: string | null }> {
  const found = await findPayouts(db, { states, network }, limit + 1, readCursor(cursor, PAYOUT))
  return pageOf(found, limit, ({ createdAt, id }) => ({ at: createdAt, name: id }))
}
