import type { Tx } from '@market/database/transact'
import { noAccount } from './get-account.ts'
import { deleteWallets, eraseUser, lockUser } from './store.ts'

/** Removes the profile and the links to wallets, and returns the keys of those wallets. */
export async function eraseAccount(tx: Tx, userId: string, at: Date): Promise<readonly string[]> {
  // An update alone would not wait for orders, which lock the key of the row.
  await lockUser(tx, userId)
  if (!(await eraseUser(tx, userId, at))) throw noAccount()
  return deleteWallets(tx, userId)
}
