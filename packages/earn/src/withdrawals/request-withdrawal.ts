import { setTimeout as wait } from 'node:timers/promises'
import { record } from '@market/core/audit'
import type { Actor, Needs } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import { lockBuyer } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { SECOND } from '@market/kernel/clock'
import { findPayers } from '../deposits/index.ts'
import { findPosition, holderOf, requirePool } from '../pools/index.ts'
import { type ListedWithdrawal, undecided } from './list-withdrawals.ts'
import { findWithdrawal, insertWithdrawal } from './store.ts'
import { rejection, type Withdrawal } from './withdrawal.ts'

export interface NewWithdrawal {
  /** Undefined: the first configured market. */
  readonly key: string | undefined
  /** Null: all of them. */
  readonly shares: bigint | null
  /** The key of a wallet. Undefined: the one that paid the newest deposit. */
  readonly destination: string | undefined
}

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'> & {
  readonly earnMarkets: readonly VenueMarket[]
}

/**
 * Asks the worker to take shares from the position and to pay for them. What can be rejected at once is; the worker checks all of it again, and
 * only its decision counts.
 */
export async function requestWithdrawal(
  ctx: Ctx,
  actor: Actor,
  { key, shares, destination }: NewWithdrawal,
  /** Of the API key that the request was authenticated with. */
  keyHint?: string,
): Promise<ListedWithdrawal> {
  const pool = await requirePool(ctx, ctx.earnMarkets, key)
  const place = { poolKey: pool.key, holder: holderOf(actor) }
  return ctx.transact(async (tx) => {
    await lockBuyer(tx, place.holder, keyHint)
    const held = (await findPosition(tx, place.poolKey, place.holder))?.shares ?? 0n
    if (held === 0n || (shares !== null && shares > held)) throw rejection('insufficient_shares', pool.key)
    const payers = await findPayers(tx, place, ctx.clock.now())
    const to = destination ?? payers[0]
    if (to === undefined || !payers.includes(to)) throw rejection('wrong_destination', pool.key)
    const withdrawal = await insertWithdrawal(tx, {
      id: ctx.ids.next('ewd'),
      ...place,
      shares,
      destination: to,
      createdAt: ctx.clock.now(),
    })
    await record(ctx, tx, {
      act: 'earn.withdraw',
      subject: withdrawal.id,
      details: { key: pool.key, shares: shares === null ? 'all' : String(shares), to },
    })
    return undecided(withdrawal)
  })
}

const LONGEST_WAIT_MS = 10 * SECOND
const POLL_MS = 200

/** Waits for the worker's decision, and returns the withdrawal as it is then. Throws when it was rejected. */
export async function awaitWithdrawal(
  { db, resultWaitMs }: Needs<'db' | 'resultWaitMs'>,
  requested: Withdrawal,
): Promise<Withdrawal> {
  const until = performance.now() + Math.min(resultWaitMs, LONGEST_WAIT_MS)
  for (;;) {
    const seen = await findWithdrawal(db, requested.id)
    assert(seen !== undefined, `${requested.id} is a withdrawal`)
    if (seen.failure !== null) throw rejection(seen.failure, seen.poolKey)
    const left = until - performance.now()
    if (seen.status !== 'requested' || left <= 0) return seen
    await wait(Math.min(POLL_MS, left))
  }
}
