import type { IdentityProfile } from '@market/core/ports/identity'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import type { Selectable } from 'kysely'
import type { Account, LinkedWallet } from './account.ts'

type UserRow = Selectable<Tables['users']>

const accountOf = (row: UserRow, wallets: readonly LinkedWallet[]): Account => ({
  userId: row.idp_user_id,
  username: row.username,
  displayName: row.display_name,
  twitterUsername: row.twitter_username,
  email: row.google_email,
  avatarUrl: row.avatar_url,
  bio: row.bio,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  wallets,
})

export async function findWallets(db: Db | Tx, userId: string): Promise<LinkedWallet[]> {
  const rows = await db
    .selectFrom('user_wallets')
    .select(['wallet_key', 'address', 'chain'])
    .where('idp_user_id', '=', userId)
    .orderBy('wallet_key')
    .execute()
  return rows.map((row) => ({ key: row.wallet_key, address: row.address, chain: row.chain as WalletChain }))
}

export async function findAccount(db: Db | Tx, userId: string): Promise<Account | undefined> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('idp_user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row === undefined ? undefined : accountOf(row, await findWallets(db, userId))
}

/** Updates only the fields that come from the provider; users edit the others on their profile. */
export async function upsertUser(tx: Tx, profile: IdentityProfile, at: Date): Promise<{ isNew: boolean }> {
  const claims = {
    username: profile.username,
    twitter_username: profile.twitterUsername,
    google_email: profile.email,
  }
  const row = {
    ...claims,
    display_name: profile.displayName,
    avatar_url: profile.avatarUrl,
    created_at: at,
    updated_at: at,
  }
  // A user who comes back after deleting the account gets a new one with the same id.
  const inserted = await tx
    .insertInto('users')
    .values({ idp_user_id: profile.userId, ...row })
    .onConflict((conflict) =>
      conflict
        .column('idp_user_id')
        .doUpdateSet({ ...row, deleted_at: null })
        .where('users.deleted_at', 'is not', null),
    )
    .executeTakeFirst()
  if (inserted.numInsertedOrUpdatedRows === 1n) return { isNew: true }
  await tx
    .updateTable('users')
    .set({ ...claims, updated_at: at })
    .where('idp_user_id', '=', profile.userId)
    .where((where) =>
      where.or([
        where('username', 'is distinct from', claims.username),
        where('twitter_username', 'is distinct from', claims.twitter_username),
        where('google_email', 'is distinct from', claims.google_email),
      ]),
    )
    .execute()
  return { isNew: false }
}

export async function lockUser(tx: Tx, userId: string): Promise<void> {
  await tx.selectFrom('users').select('idp_user_id').where('idp_user_id', '=', userId).forUpdate().execute()
}

/** Until the commit the account is not deleted. False when it is deleted; a user without an account has nothing to delete. */
export async function lockAccountOpen(tx: Tx, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('deleted_at')
    .where('idp_user_id', '=', userId)
    .forKeyShare()
    .executeTakeFirst()
  return row === undefined || row.deleted_at === null
}

/**
 * Links exactly these wallets to the user and returns the new ones. Claims that were requested earlier than the saved
 * ones change nothing, because responses may arrive out of order.
 */
export async function replaceWallets(
  tx: Tx,
  userId: string,
  wallets: readonly Wallet[],
  requestedAt: Date,
): Promise<string[]> {
  const before = new Set((await findWallets(tx, userId)).map((wallet) => wallet.key))
  const now = wallets.map((wallet) => wallet.key)
  const removed = [...before].filter((key) => !now.includes(key))
  if (removed.length > 0) {
    await tx
      .deleteFrom('user_wallets')
      .where('idp_user_id', '=', userId)
      .where('wallet_key', 'in', removed)
      .where('verified_at', '<=', requestedAt)
      .execute()
  }
  const linked: string[] = []
  // In a fixed order, so that concurrent requests for the same wallets do not deadlock.
  for (const wallet of wallets.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const done = await tx
      .insertInto('user_wallets')
      .values({
        wallet_key: wallet.key,
        idp_user_id: userId,
        chain: wallet.chain,
        address: wallet.address,
        verified_at: requestedAt,
      })
      .onConflict((conflict) =>
        conflict
          .column('wallet_key')
          .doUpdateSet({ idp_user_id: userId, verified_at: requestedAt })
          .where('user_wallets.verified_at', '<=', requestedAt),
      )
      .executeTakeFirst()
    if (done.numInsertedOrUpdatedRows === 1n) linked.push(wallet.key)
  }
  return linked.filter((key) => !before.has(key))
}

/** Removes the user's personal data and returns whether there was an account. */
export async function eraseUser(tx: Tx, userId: string, at: Date): Promise<boolean> {
  const nothing = { username: null, display_name: null, twitter_username: null, google_email: null }
  const done = await tx
    .updateTable('users')
    .set({ ...nothing, avatar_url: null, bio: null, updated_at: at, deleted_at: at })
    .where('idp_user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

/** Returns the keys of the wallets that were linked. */
export async function deleteWallets(tx: Tx, userId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('user_wallets')
    .where('idp_user_id', '=', userId)
    .returning('wallet_key')
    .execute()
  return rows.map((row) => row.wallet_key)
}

export async function saveProfile(
  tx: Tx,
  userId: string,
  change: { display_name?: string | null; bio?: string | null; avatar_url?: string | null },
  at: Date,
): Promise<boolean> {
  const done = await tx
    .updateTable('users')
    .set({ ...change, updated_at: at })
    .where('idp_user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return done.numUpdatedRows === 1n
}

/** The user to whose account the wallet is linked. */
export async function findUserOfWallet(db: Db | Tx, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('user_wallets')
    .select('idp_user_id')
    .where('wallet_key', '=', key)
    .executeTakeFirst()
  return row?.idp_user_id
}
