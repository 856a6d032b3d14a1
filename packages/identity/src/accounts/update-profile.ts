import type { Needs } from '@market/core/context'
import type { Account } from './account.ts'
import { getAccount } from './get-account.ts'
import { saveProfile } from './store.ts'

interface ProfileChange {
  readonly displayName?: string | null | undefined
  readonly bio?: string | null | undefined
  readonly avatarUrl?: string | null | undefined
}

export function updateProfile(
  ctx: Needs<'transact' | 'clock'>,
  userId: string,
  change: ProfileChange,
): Promise<Account> {
  return ctx.transact(async (tx) => {
    await saveProfile(
      tx,
      userId,
      {
        ...(change.displayName === undefined ? {} : { display_name: change.displayName }),
        ...(change.bio === undefined ? {} : { bio: change.bio }),
        ...(change.avatarUrl === undefined ? {} : { avatar_url: change.avatarUrl }),
      },
      ctx.clock.now(),
    )
    return getAccount(tx, userId)
  })
}
