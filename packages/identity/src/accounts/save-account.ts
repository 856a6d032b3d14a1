import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Account, type IdentityClaims, walletsOf } from './account.ts'
import { findAccount, lockUser, replaceWallets, upsertUser } from './store.ts'

export interface AccountChange {
  readonly account: Account
  readonly isNew: boolean
  /** Wallets that were not linked to the user before. */
  readonly newWallets: readonly string[]
}

/** Saves the claims of the identity provider. */
export async function saveAccount(
  ctx: Needs<'clock' | 'signatures'>,
  tx: Tx,
  profile: IdentityClaims,
): Promise<AccountChange> {
  const now = ctx.clock.now()
  const { isNew } = await upsertUser(tx, profile, now)
  await lockUser(tx, profile.userId)
  const requestedAt = profile.requestedAt ?? now
  const newWallets = await replaceWallets(tx, profile.userId, walletsOf(profile, ctx.signatures), requestedAt)
  const account = await findAccount(tx, profile.userId)
  assert(account !== undefined, 'the saved account exists')
  return { account, isNew, newWallets }
}
