import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Account } from './account.ts'
import { findAccount } from './store.ts'

export async function getAccount(db: Db | Tx, userId: string): Promise<Account> {
  const account = await findAccount(db, userId)
  if (account === undefined) throw noAccount()
  return account
}

export const noAccount = (): ApiError =>
  new ApiError('not_found', 'You have no account yet. Call POST /api/auth/user once to create it.', {
    code: 'no_account',
  })
