import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { EVER } from '@market/kernel/clock'
import type { Account, IdentityClaims } from './account.ts'
import { findAccount } from './store.ts'

export async function getAccount(db: Db | Tx, userId: string): Promise<Account> {
  const account = await findAccount(db, userId)
  if (account === undefined) throw noAccount()
  return account
}

/** The claims of the last sign-in without wallets, as old as anything: saving them again changes nothing. */
export async function savedClaims(db: Db | Tx, userId: string): Promise<IdentityClaims> {
  const { username, displayName, avatarUrl, twitterUsername, email } = await getAccount(db, userId)
  const claims = { userId, username, displayName, avatarUrl, twitterUsername, email }
  return { ...claims, wallets: [], requestedAt: EVER }
}

export const noAccount = (): ApiError =>
  new ApiError('not_found', 'You have no account yet. Call POST /api/auth/user once to create it.', {
    code: 'no_account',
  })
