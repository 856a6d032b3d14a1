import type { Needs } from '@market/core/context'
import { readAtOnce } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { plus, type Usdc, ZERO } from '@market/kernel/money'
import { findPools, findPositions, type Position, worthOf } from '../pools/index.ts'
import { findQueued } from './store.ts'
import { openValue, unpaidOf } from './withdrawal.ts'

/** What a holder has in a pool. Values are of the last reading, also while the venue cannot be reached. */
export interface HeldPosition extends Position {
  readonly value: Usdc
  /** Of withdrawals that are not paid as a whole: their shares, and what the vault paid that no payout has taken. */
  readonly queuedShares: bigint
  readonly queuedValue: Usdc
  readonly unpaid: Usdc
}

/** The positions of holders, who are named as `nameOf` names a caller. One with withdrawals only is listed too. */
export const listPositions = ({ db }: Needs<'db'>, holders: readonly string[]): Promise<HeldPosition[]> =>
  readAtOnce(db, async (tx) => {
    const pools = new Map((await findPools(tx)).map((pool) => [pool.key, pool]))
    const poolOf = (key: string) => {
      const pool = pools.get(key)
      assert(pool !== undefined, `${key} is a pool`)
      return pool
    }
    const none = { queuedShares: 0n, queuedValue: ZERO, unpaid: ZERO }
    const held = new Map<string, HeldPosition>()
    for (const position of await findPositions(tx, holders)) {
      const value = worthOf(position.shares, poolOf(position.poolKey))
      held.set(`${position.holder} ${position.poolKey}`, { ...position, value, ...none })
    }
    for (const withdrawal of await findQueued(tx, { holders })) {
      const { poolKey, holder, openShares, recalledShares } = withdrawal
      const key = `${holder} ${poolKey}`
      const known = held.get(key) ?? { poolKey, holder, shares: 0n, principal: ZERO, value: ZERO, ...none }
      held.set(key, {
        ...known,
        queuedShares: known.queuedShares + openShares + recalledShares,
        queuedValue: plus(known.queuedValue, openValue(withdrawal, poolOf(poolKey))),
        unpaid: plus(known.unpaid, unpaidOf(withdrawal)),
      })
    }
    return [...held.values()]
  })
