import { getAccount } from '@market/market/accounts'
import type { HandlerContext } from './handler.ts'

/** What the caller owns by: their account with its wallets, or the wallet that signed. An agent owns no other. */
export async function ownerOf(ctx: HandlerContext): Promise<{ userId?: string; wallets: readonly string[] }> {
  const { actor } = ctx
  switch (actor.kind) {
    case 'user': {
      const account = await getAccount(ctx.db, actor.userId)
      return { userId: account.userId, wallets: account.wallets.map((wallet) => wallet.key) }
    }
    case 'wallet':
      return { wallets: [actor.wallet.key] }
    default:
      return { wallets: [] }
  }
}
