import type { Db, Tx } from '@market/database/transact'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import { balanceOf, pool as equityAccount, venue } from '@market/money/ledger'
import type { Pool } from '../pools/index.ts'
import { sumRecalled } from '../venue-transfers/index.ts'
import { sumOwed } from './store.ts'

/** Where the money of a pool is, by the ledger. */
export interface Liquidity {
  /** Owed for burned shares, without the part for which payouts were requested. */
  readonly owed: Usdc
  /** In the treasury. */
  readonly idle: Usdc
  /** On its way from the venue to the treasury. */
  readonly recalled: Usdc
}

/** All that depositors own or are owed, without what is in the venue or comes from there, is in the treasury. */
export async function liquidityOf(db: Db | Tx, { key, network }: Pool): Promise<Liquidity> {
  const owed = (await sumOwed(db)).get(key) ?? ZERO
  const recalled = await sumRecalled(db, key)
  const equity = await balanceOf(db, equityAccount(network, key))
  const idle = equity + owed + (await balanceOf(db, venue(network, key))) - recalled
  return { owed, idle: usdc(idle > 0n ? idle : 0n), recalled }
}
