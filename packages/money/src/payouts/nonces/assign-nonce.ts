import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Network } from '@market/kernel/network'
import type { Hold } from '../hold.ts'
import { type Guard, isReadSince } from '../outgoing/guard.ts'
import { countExplained } from '../outgoing/store.ts'
import type { Payout } from '../payout.ts'
import { saveHold, savePayout } from '../store.ts'
import { findNonceCounter, type NonceCounter, saveNonceCounter } from './store.ts'

/** What the chain said before the transaction began. */
export interface NonceFacts {
  readonly treasury: string
  /** How many transactions of the treasury the chain counts, including those that are not mined yet. */
  readonly counted: bigint
  /** How many of them are final; only read when the database has no nonce counter. */
  readonly final: bigint | null
}

/** The nonce of the payout, or the payout as it waits for one. */
export type NonceDecision =
  | { readonly nonce: bigint; readonly waiting?: never }
  | { readonly nonce?: never; readonly waiting: Payout }

/**
 * A payout has one nonce per round. Only this function assigns nonces, so a chain that counts more transactions has
 * transactions that the database does not know. Those that were read from the chain and belong to payouts, or were
 * written off, are explained; for any other, payouts wait until an operator has explained it.
 */
export async function assignNonce(
  tx: Tx,
  payout: Payout,
  guard: Guard,
  facts: NonceFacts,
  now: Date,
): Promise<NonceDecision> {
  const { network } = payout
  const { treasury, counted } = facts
  const known = await findNonceCounter(tx, network)
  const counter = known ?? firstCounter(facts)
  assert(counter.treasury === treasury, `${network} is paid from ${counter.treasury}`)
  if (!(await isExplained(tx, network, counter.next, counted)))
    return { waiting: await saveHold(tx, payout, nonceMismatch(counted, counter.next), now) }
  const nonce = larger(counted, counter.next)
  if (known === undefined && !(await isExplained(tx, network, 0n, nonce))) {
    const detail = `${counter.next} final`
    const isHeld = payout.holdCode === 'history_unread' && payout.holdDetail === detail
    if (!isHeld || payout.heldAtReading === null) {
      const hold = { code: 'history_unread', detail } as const
      const change = { hold, heldAtReading: guard.readingsBegun }
      return { waiting: await savePayout(tx, payout, 'hold', change, now) }
    }
    // They were final before the hold, so a reading that began after it has shown all of them that are payouts.
    if (!isReadSince(guard, payout)) return { waiting: payout }
  }
  await saveNonceCounter(tx, network, { treasury, next: nonce + 1n })
  return { nonce }
}

const nonceMismatch = (counted: bigint, next: bigint): Hold => ({
  code: 'nonce_mismatch',
  detail: `${counted} on the chain, ${next} in the ledger`,
})

/**
 * A database without a counter is new, or was restored from before the first payout. It starts at the final nonce: final
 * transactions may be older than the marketplace, but one that is not final may be a payout that the database lost.
 */
function firstCounter({ treasury, final }: NonceFacts): NonceCounter {
  assert(final !== null, 'the final nonce is read when there is no counter')
  return { treasury, next: final }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const isExplained = async (tx: Tx, network: Network, from: bigint, upTo: bigint): Promise<boolean> =>
  upTo <= from || (await countExplained(tx, network, from, upTo)) === upTo - from
