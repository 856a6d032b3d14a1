import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { AccountChange, IdentityClaims } from '../accounts/index.ts'
import { openAccount } from './open-account.ts'
import { countOwnedByWallets, saveHandle } from './store.ts'

export interface SignedIn extends AccountChange {
  /** Agents and orders of wallets that are newly linked to the user. */
  readonly backfilled: number
}

/** Counts what else belongs to wallets: orders are above this package. */
type CountOfWallets = (tx: Tx, wallets: readonly string[]) => Promise<number>

export function signIn(
  ctx: Needs<'transact' | 'clock' | 'signatures'>,
  profile: IdentityClaims,
  countOrders: CountOfWallets,
): Promise<SignedIn> {
  return ctx.transact(async (tx) => {
    const change = await openAccount(ctx, tx, profile)
    const { userId, wallets, twitterUsername } = change.account
    await saveHandle(tx, { userId, wallets }, twitterUsername, ctx.clock.now())
    const agents = await countOwnedByWallets(tx, change.newWallets)
    return { ...change, backfilled: agents + (await countOrders(tx, change.newWallets)) }
  })
}
