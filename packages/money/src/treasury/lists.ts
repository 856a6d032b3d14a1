import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { findUnmatched, type UnmatchedMoney } from '../payments/index.ts'
import {
  findListedPayouts,
  findUnexplained,
  type ListedPayout,
  type ListedState,
  type OutgoingTransfer,
} from '../payouts/index.ts'
import { type Page, pageOf, readCursor } from './cursor.ts'

interface Listed<Row> {
  readonly rows: Row[]
  readonly nextCursor: string | null
}

const PAYOUT = /^pay_[0-9a-z]{32}$/
const TRANSFER = /^(solana|base|alt)-mainnet:[0-9A-Za-z]{64,88}$/
const ACCOUNT = /^(suspense|surplus):(solana|base|alt)-mainnet:[0-9A-Za-z]{64,88}$/

/** Listed when the request names no states: an operator may have to act on these. */
const DEFAULT_STATES: readonly ListedState[] = ['failed', 'held']

interface PayoutQuery extends Page {
  readonly states?: readonly ListedState[] | undefined
  readonly network?: Network | undefined
}

/** Payouts that have not ended and failed payouts, oldest first. */
export async function listPayouts(
  { db }: Needs<'db'>,
  { states = DEFAULT_STATES, network, limit, cursor }: PayoutQuery,
): Promise<Listed<ListedPayout>> {
  const found = await findListedPayouts(db, { states, network }, limit + 1, readCursor(cursor, PAYOUT))
  return pageOf(found, limit, ({ createdAt, id }) => ({ at: createdAt, name: id }))
}

/** Money in suspense or surplus accounts, oldest first. */
export async function listUnmatched(
  { db }: Needs<'db'>,
  { limit, cursor }: Page,
): Promise<Listed<UnmatchedMoney>> {
  const found = await findUnmatched(db, limit + 1, readCursor(cursor, ACCOUNT))
  return pageOf(found, limit, ({ happenedAt, account }) => ({ at: happenedAt, name: account }))
}

/**
 * Final payments out of the treasuries that belong to no final payout and were not written off, oldest first. A payment
 * that became final a moment ago is listed until a worker has finalized its payout.
 */
export async function listUnexplained(
  { db }: Needs<'db'>,
  { limit, cursor }: Page,
): Promise<Listed<OutgoingTransfer>> {
  const found = await findUnexplained(db, limit + 1, readCursor(cursor, TRANSFER))
  return pageOf(found, limit, ({ at, network, reference }) => ({ at, name: `${network}:${reference}` }))
}
