import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { idOf, withdrawal as withdrawalAccount } from '@market/money/ledger'
import type { Parts } from '@market/reserves/snapshots'
import { findPools } from '../pools/index.ts'
import { findOwed } from './store.ts'

/** Who is owed what venues paid for shares of pools, for the proof of liabilities. Shares themselves are no liability. */
export async function findEarnHolders(tx: Tx, network: Network): Promise<Parts> {
  const pools = (await findPools(tx)).filter((pool) => pool.network === network)
  const owed = await findOwed(
    tx,
    pools.map(({ key }) => key),
  )
  return new Map(
    owed.map(({ id, destination, micros }) => [
      idOf(withdrawalAccount(network, id)),
      [{ holder: destination, micros }],
    ]),
  )
}
