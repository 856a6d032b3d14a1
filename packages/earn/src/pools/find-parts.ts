import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { pool as equityAccount, idOf } from '@market/money/ledger'
import type { Part, Parts } from '@market/reserves/snapshots'
import { equityOf } from './list-pools.ts'
import { valueOfShares } from './shares.ts'
import { findHolders, findPools } from './store.ts'

/** Whose the equity of each pool of a network is, for the proof of liabilities. A little of it is nobody's by rounding. */
export async function findPoolParts(tx: Tx, network: Network): Promise<Parts> {
  const parts = new Map<string, readonly Part[]>()
  for (const pool of (await findPools(tx)).filter((one) => one.network === network)) {
    const equity = await equityOf(tx, pool)
    const holders = await findHolders(tx, pool.key)
    parts.set(
      idOf(equityAccount(network, pool.key)),
      holders.map(({ holder, shares }) => ({ holder, micros: valueOfShares(shares, equity) })),
    )
  }
  return parts
}
