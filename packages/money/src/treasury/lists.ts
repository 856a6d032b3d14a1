import type { Needs } from '@market/core/context'
import { cursorCodec, dateField, type NextCursor, type PageRequest, textField } from '@market/kernel/cursor'
import type { Network } from '@market/kernel/network'
import { findUnmatched, transferName, type UnmatchedMoney } from '../payments/index.ts'
import {
  findListedPayouts,
  findUnexplained,
  type ListedPayout,
  type ListedState,
  type OutgoingTransfer,
} from '../payouts/index.ts'
import { findClaims, type RefundRequest } from './store.ts'

interface Listed<Row> {
  readonly rows: Row[]
  readonly nextCursor: NextCursor
}

/** The lists are oldest first: by time, then by name. */
const oldestFirst = (list: string, name: RegExp) =>
  cursorCodec<{ at: Date; name: string }>(list, { at: dateField, name: textField(name) })

const PAYOUTS = oldestFirst('payouts', /^pay_[0-9a-z]{32}$/)
const TRANSFER = '(solana|base|alt)-mainnet:[0-9A-Za-z]{64,88}(\\.[0-9]{1,4})?$'
const UNEXPLAINED = oldestFirst('unexplained', new RegExp(`^${TRANSFER}`))
const UNMATCHED = oldestFirst('unmatched', new RegExp(`^(suspense|surplus):${TRANSFER}`))

/** Listed when the request names no states: an operator may have to act on these. */
const DEFAULT_STATES: readonly ListedState[] = ['failed', 'held']

interface PayoutQuery extends PageRequest {
  readonly states?: readonly ListedState[] | undefined
  readonly network?: Network | undefined
}

/** Payouts that have not ended and failed payouts, oldest first. */
export async function listPayouts(
  { db }: Needs<'db'>,
  { states = DEFAULT_STATES, network, limit, cursor }: PayoutQuery,
): Promise<Listed<ListedPayout>> {
  const found = await findListedPayouts(db, { states, network }, limit + 1, PAYOUTS.decode(cursor))
  return PAYOUTS.pageOf(found, limit, ({ createdAt, id }) => ({ at: createdAt, name: id }))
}

/** Money in suspense or surplus accounts, oldest first. */
export async function listUnmatched(
  { db }: Needs<'db'>,
  { limit, cursor }: PageRequest,
): Promise<Listed<ListedUnmatched>> {
  const found = await findUnmatched(db, limit + 1, UNMATCHED.decode(cursor))
  const { rows, nextCursor } = UNMATCHED.pageOf(found, limit, ({ happenedAt, account }) => ({
    at: happenedAt,
    name: account,
  }))
  const claims = await findClaims(
    db,
    rows.map(({ account }) => account),
  )
  const claimsOf = Map.groupBy(claims, ({ unmatchedId }) => unmatchedId)
  return { rows: rows.map((row) => ({ ...row, claims: claimsOf.get(row.account) ?? [] })), nextCursor }
}

export interface ListedUnmatched extends UnmatchedMoney {
  /** Wallets that ask for it and did not send it. */
  readonly claims: readonly RefundRequest[]
}

/**
 * Final payments out of the treasuries that belong to no final payout and were neither written off nor paired, oldest
 * first. A payment that became final a moment ago is listed until a worker has finalized its payout.
 */
export async function listUnexplained(
  { db }: Needs<'db'>,
  { limit, cursor }: PageRequest,
): Promise<Listed<OutgoingTransfer>> {
  const found = await findUnexplained(db, limit + 1, UNEXPLAINED.decode(cursor))
  return UNEXPLAINED.pageOf(found, limit, ({ at, network, ...transfer }) => ({
    at,
    name: `${network}:${transferName(transfer)}`,
  }))
}
