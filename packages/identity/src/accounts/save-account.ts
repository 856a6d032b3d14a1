import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Account, type IdentityClaims, walletsOf } from './account.ts'
import { findAccount, lockUser, replaceWallets, upsertUser } from './store.ts'

export interface AccountChange {
  readonly account: Account
  readonly isNew: boolean
  /** Wallets that were not the person's before this. */
  readonly newWallets: readonly string[]
}

/** Writes down what the provider vouches for now. */
export async function saveAccount(
  ctx: Needs<'clock' | 'signatures'>,
  tx: Tx,
  profile: IdentityClaims,
): Promise<AccountChange> {
  const now = ctx.clock.now()
  const { isNew } = await upsertUser(tx, profile, now)
  await lockUser(tx, profile.userId)
  const askedAt = profile.askedAt ?? now
  const newWallets = await replaceWallets(tx, profile.userId, walletsOf(profile, ctx.signatures), askedAt)
  const account = await findAccount(tx, profile.userId)
  assert(account !== undefined, 'the account that was just written is there')
  return { account, isNew, newWallets }
}
