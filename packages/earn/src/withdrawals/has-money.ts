import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { minPayoutOn } from '@market/money/payouts'
import { hasOpenDeposits } from '../deposits/index.ts'
import { findPools, findPositions, worthOf } from '../pools/index.ts'
import { findQueued, hasRequested } from './store.ts'
import { isPayable } from './withdrawal.ts'

/** Whether the holders have shares that can be paid out, or money on its way into a pool or out of it. */
export async function hasMoneyInEarn(
  ctx: Needs<'chains'>,
  tx: Tx,
  holders: readonly string[],
): Promise<boolean> {
  if ((await hasOpenDeposits(tx, holders)) || (await hasRequested(tx, holders))) return true
  const pools = new Map((await findPools(tx)).map((pool) => [pool.key, pool]))
  const poolOf = (key: string) => {
    const pool = pools.get(key)
    assert(pool !== undefined, `${key} is a pool`)
    return { pool, minPayout: minPayoutOn(ctx, pool.network) }
  }
  for (const withdrawal of await findQueued(tx, { holders })) {
    const { pool, minPayout } = poolOf(withdrawal.poolKey)
    if (isPayable(withdrawal, pool, minPayout)) return true
  }
  // What was paid for it counts too: a venue can be worth less for a while.
  // fix: dust-is-no-money
  return (await findPositions(tx, holders)).some(({ poolKey, shares, principal }) => {
    const { pool, minPayout } = poolOf(poolKey)
    return worthOf(shares, pool) >= minPayout || principal >= minPayout
  })
}
