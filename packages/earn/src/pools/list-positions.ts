import type { Needs } from '@market/core/context'
import { readAtOnce } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Usdc } from '@market/kernel/money'
import { equityOf } from './list-pools.ts'
import type { Position } from './pool.ts'
import { type Equity, valueOfShares } from './shares.ts'
import { findPools, findPositions } from './store.ts'

export interface PositionView extends Position {
  /** By the ledger, so also while the venue cannot be reached. */
  readonly value: Usdc
}

/** The positions of holders, who are named as `nameOf` names a caller. */
export const listPositions = ({ db }: Needs<'db'>, holders: readonly string[]): Promise<PositionView[]> =>
  readAtOnce(db, async (tx) => {
    const positions = await findPositions(tx, holders)
    const wanted = new Set(positions.map(({ poolKey }) => poolKey))
    const equities = new Map<string, Equity>()
    for (const pool of await findPools(tx))
      if (wanted.has(pool.key)) equities.set(pool.key, await equityOf(tx, pool))
    return positions.map((position) => {
      const equity = equities.get(position.poolKey)
      assert(equity !== undefined, `${position.poolKey} is a pool`)
      return { ...position, value: valueOfShares(position.shares, equity) }
    })
  })
