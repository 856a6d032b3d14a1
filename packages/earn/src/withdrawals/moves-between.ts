import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { Account } from '@market/money/ledger'

export interface AccountAmount {
  readonly account: Account
  readonly amount: Usdc
}

interface Move {
  readonly from: Account
  readonly to: Account
  readonly amount: Usdc
}

/** Fills what is owed from what arrived, both in order. An amount can come from several accounts, and none gives more than it has. */
export function movesBetween(arrived: readonly AccountAmount[], owed: readonly AccountAmount[]): Move[] {
  const left = arrived.map(({ amount }) => amount)
  const moves: Move[] = []
  for (const { account: to, amount: wanted } of owed) {
    let open = wanted
    for (const [n, { account: from }] of arrived.entries()) {
      const has = left[n] ?? ZERO
      const amount = has < open ? has : open
      if (amount === ZERO) continue
      moves.push({ from, to, amount })
      left[n] = usdc(has - amount)
      open = usdc(open - amount)
    }
  }
  return moves
}
