import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, idOf, stripeFor } from './accounts.ts'

export type JournalId = `jrn_${string}`

export interface Move {
  readonly from: Account
  readonly to: Account
  readonly amount: Usdc
}

/** One thing that happened to money. */
export interface Journal {
  /** What happened, in words that can be true only once: `order.paid:ord_…`. */
  readonly key: string
  readonly reason: string
  /** The order, bounty, transfer or payout it is about. */
  readonly subject: string
  /** The agent whose statement shows it too. */
  readonly agentId?: AgentId
  readonly network: Network
  readonly moves: readonly Move[]
}

/** What one account gains by a journal, or loses. */
export interface Leg {
  readonly account: Account
  readonly micros: bigint
}

/**
 * The moves as each account sees them: one leg per account, in the order of their ids, which is the order
 * their rows are locked in. A move of nothing is left out.
 */
export function legsOf(journal: Journal): Leg[] {
  const legs = new Map<string, Leg>()
  const add = (whole: Account, micros: bigint) => {
    assert(whole.network === journal.network, `${journal.key} moves money on ${journal.network} only`)
    const account = stripeFor(whole, journal.subject)
    const id = idOf(account)
    legs.set(id, { account, micros: (legs.get(id)?.micros ?? 0n) + micros })
  }
  for (const { from, to, amount } of journal.moves.filter((move) => move.amount > 0n)) {
    add(from, -amount)
    add(to, amount)
  }
  // What comes and goes at once would leave no trace; it is two journals.
  assert(
    [...legs.values()].every(({ micros }) => micros !== 0n),
    `${journal.key} passes money through an account`,
  )
  assert(legs.size > 0, `${journal.key} moves nothing`)
  return [...legs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, leg]) => leg)
}
