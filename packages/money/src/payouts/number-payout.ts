import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Gate } from './outgoing/guard.ts'
import { countExplained } from './outgoing/store.ts'
import type { Payout } from './payout.ts'
import { findNonce, type NonceBook, saveNonce, savePayout } from './store.ts'

/** Why the first payout of a treasury that is not new waits a moment. */
export const UNREAD = 'What the treasury sent before is being read'

interface Seen {
  readonly gate: Gate
  readonly treasury: string
  /** How many transactions of the treasury the chain counts, with those that wait to be mined. */
  readonly counted: bigint
  /** How many of them are final; only asked where the books have no count of their own. */
  readonly final: bigint | null
}

/**
 * A nonce belongs to its payout for a whole round, whoever signs it and however often. Only we give them out, so a
 * chain that counts more than we gave has seen payments our books do not know. Payments that were read from the chain
 * explain themselves; for any other, nothing leaves until a person has explained it.
 */
export async function numberPayout(ctx: Needs<'clock'>, tx: Tx, payout: Payout, seen: Seen): Promise<Payout> {
  const { id, network } = payout
  const { treasury, counted } = seen
  const known = await findNonce(tx, network)
  const book = known ?? firstBook(seen)
  assert(book.treasury === treasury, `${network} is paid from ${book.treasury}`)
  const holdFor = (reason: string) => savePayout(tx, id, { state: 'held', reason }, ctx.clock.now())
  if (!(await isExplained(tx, network, book.next, counted)))
    return holdFor(`The chain counts ${counted} payments of the treasury, the books ${book.next}`)
  const nonce = larger(counted, book.next)
  if (known === undefined && !(await isExplained(tx, network, 0n, nonce))) {
    const reason = `${UNREAD}: ${book.next} of its payments are final`
    if (payout.reason !== reason) return holdFor(reason)
    // They were final before it was held: a reading that began later has shown all of them that are payouts.
    if (seen.gate.readAt <= payout.updatedAt) return payout
  }
  await saveNonce(tx, network, { treasury, next: nonce + 1n })
  return savePayout(tx, id, { state: 'numbered', nonce }, ctx.clock.now())
}

/**
 * Books without a count are new, or were restored from before the first payout. What is final is then the past, be it
 * of an account that was used before it was ours; what is not must explain itself, for it may be a payout that was lost.
 */
function firstBook({ treasury, final }: Seen): NonceBook {
  assert(final !== null, 'the final nonce is asked for where there is no book')
  return { treasury, next: final }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const isExplained = async (
  tx: Tx,
  network: Payout['network'],
  from: bigint,
  upTo: bigint,
): Promise<boolean> => upTo <= from || (await countExplained(tx, network, from, upTo)) === upTo - from
