import type { Db, Tx } from '@market/database/transact'
import { findPayersOf } from '@market/money/payments'
import { type Deposit, purposeOf } from './deposit.ts'
import { findActiveIds } from './store.ts'

/** The wallets that paid the holder's active deposits into a pool, newest first: shares are paid out to these only. */
export async function findPayers(
  db: Db | Tx,
  position: Pick<Deposit, 'poolKey' | 'holder'>,
): Promise<string[]> {
  const ids = await findActiveIds(db, position)
  return findPayersOf(
    db,
    ids.map((id) => purposeOf({ id })),
  )
}
