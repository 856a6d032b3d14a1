import type { Tx } from '@market/database/transact'
import { noAccount } from './get-account.ts'
import { deleteWallets, eraseUser } from './store.ts'

/** Removes the profile and the links to wallets, and returns the keys of those wallets. */
export async function eraseAccount(tx: Tx, userId: string, at: Date): Promise<readonly string[]> {
  if (!(await eraseUser(tx, userId, at))) throw noAccount()
  return deleteWallets(tx, userId)
}
