import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { idOf, withdrawal as withdrawalAccount } from '@market/money/ledger'
import type { Parts } from '@market/reserves/snapshots'
import { findPoolParts, findPools } from '../pools/index.ts'
import { findOwed } from './store.ts'

/** Whose the money of Earn on a network is, for the proof of liabilities: of depositors, and of those whose shares were burned. */
export async function findEarnHolders(tx: Tx, network: Network): Promise<Parts> {
  const pools = (await findPools(tx)).filter((pool) => pool.network === network)
  const owed = await findOwed(
    tx,
    pools.map(({ key }) => key),
  )
  const withdrawals = owed.map(
    ({ id, destination, micros }) =>
      [idOf(withdrawalAccount(network, id)), [{ holder: destination, micros }]] as const,
  )
  return new Map([...(await findPoolParts(tx, network)), ...withdrawals])
}
