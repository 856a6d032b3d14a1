import { type IdentityClaims, walletsOf } from '@market/identity/accounts'
import type { HandlerContext } from './handler.ts'
import { requireUser } from './require-actor.ts'

/** Asks the provider about the caller, and notes when: an answer that was overtaken must not win. */
export async function askProfile(ctx: HandlerContext): Promise<IdentityClaims> {
  const requestedAt = ctx.clock.now()
  return { ...(await ctx.identity.fetchProfile(requireUser(ctx).token)), requestedAt }
}

/**
 * What the caller owns by: their account with the wallets the provider vouches for now, or the wallet that signed. A
 * wallet that was unlinked a minute ago owns nothing for them any more. An agent owns no other agent.
 */
export async function ownerOf(ctx: HandlerContext): Promise<{ userId?: string; wallets: readonly string[] }> {
  const { actor } = ctx
  switch (actor.kind) {
    case 'user': {
      const wallets = walletsOf(await askProfile(ctx), ctx.signatures)
      return { userId: actor.userId, wallets: wallets.map((wallet) => wallet.key) }
    }
    case 'wallet':
      return { wallets: [actor.wallet.key] }
    default:
      return { wallets: [] }
  }
}
