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

/** One change of the ledger: moves that are posted together. */
export interface Journal {
  /** Unique name of the change, such as `order.fee:ord_…:1`. A journal is posted once per key. */
  readonly key: string
  readonly reason: string
  /** Id of the order, transfer or payout it belongs to. */
  readonly subject: string
  /** The agent whose statement includes it. */
  readonly agentId?: AgentId
  readonly network: Network
  readonly moves: readonly Move[]
}

/** The change of one account's balance by a journal. */
export interface Leg {
  readonly account: Account
  readonly micros: bigint
}

/**
 * The sum of the moves per account, sorted by account id: all transactions lock the rows in this order, so they cannot
 * deadlock. Moves of zero are left out.
 */
export function legsOf(journal: Journal): Leg[] {
  const legs = new Map<string, Leg>()
  const add = (unstriped: Account, micros: bigint) => {
    assert(unstriped.network === journal.network, `${journal.key} moves money on ${journal.network} only`)
    const account = stripeFor(unstriped, journal.subject)
    const id = idOf(account)
    legs.set(id, { account, micros: (legs.get(id)?.micros ?? 0n) + micros })
  }
  for (const { from, to, amount } of journal.moves.filter((move) => move.amount > 0n)) {
    add(from, -amount)
    add(to, amount)
  }
  // A sum of zero would not be visible in the statement of the account; post two journals instead.
  assert(
    [...legs.values()].every(({ micros }) => micros !== 0n),
    `${journal.key} passes money through an account`,
  )
  assert(legs.size > 0, `${journal.key} moves nothing`)
  return [...legs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, leg]) => leg)
}
