import type { Needs } from '@market/core/context'
import { type AccountChange, type IdentityClaims, saveAccount } from '../accounts/index.ts'
import { countOwnedByWallets, saveHandle } from './store.ts'

export interface SignedIn extends AccountChange {
  /** Agents whose owner wallet is newly linked to the user. */
  readonly backfilled: number
}

export function signIn(
  ctx: Needs<'transact' | 'clock' | 'signatures'>,
  profile: IdentityClaims,
): Promise<SignedIn> {
  return ctx.transact(async (tx) => {
    const change = await saveAccount(ctx, tx, profile)
    const { userId, wallets, twitterUsername } = change.account
    await saveHandle(tx, { userId, wallets: wallets.map((w) => w.key) }, twitterUsername, ctx.clock.now())
    return { ...change, backfilled: await countOwnedByWallets(tx, change.newWallets) }
  })
}
