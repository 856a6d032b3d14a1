import type { Db, Tx } from '@market/database/transact'
import { type Account, stripesOf } from './accounts.ts'
import { sumBalances } from './store.ts'

/** What an account holds, over all its stripes. Zero for one that was never used; below zero for the world alone. */
export const balanceOf = (db: Db | Tx, account: Account): Promise<bigint> =>
  sumBalances(db, stripesOf(account))
