import { type IdentityClaims, savedClaims, walletsOf } from '@market/identity/accounts'
import type { Owner, OwnerSignature } from '@market/identity/agents'
import type { HandlerContext, OwnerContext } from './handler.ts'
import { requireUser } from './require-actor.ts'

/**
 * Fetches the caller's claims from the identity provider, with the time of the request to order the responses. A program
 * that acts for the user has no token of the provider: it gets the saved claims.
 */
export async function fetchIdentityClaims(ctx: OwnerContext): Promise<IdentityClaims> {
  const { token, userId } = requireUser(ctx)
  if (token === undefined) return savedClaims(ctx.db, userId)
  const requestedAt = ctx.clock.now()
  return { ...(await ctx.identity.fetchProfile(token)), requestedAt }
}

/**
 * The user with the wallets that the identity provider currently lists, or the wallet that signed. The claims are fetched
 * each time, so that an unlinked wallet does not count. An agent does not own agents.
 */
export async function ownerOf(ctx: OwnerContext): Promise<Owner> {
  const { actor } = ctx
  switch (actor.kind) {
    case 'user':
      // Wallets may be unlinked at the provider, which a program that acts for the user cannot ask.
      if (actor.token === undefined) return { userId: actor.userId, wallets: [] }
      return {
        userId: actor.userId,
        wallets: walletsOf(await fetchIdentityClaims(ctx), ctx.signatures),
      }
    case 'wallet':
      return { wallets: [actor.wallet] }
    default:
      return { wallets: [] }
  }
}

/** The wallet's signature of this request, which the worker verifies again. */
export const ownerSignature = ({ caller: { singleUse } }: HandlerContext): OwnerSignature | undefined =>
  singleUse && {
    wallet: singleUse.wallet.key,
    signature: singleUse.signature,
    signedAtMs: singleUse.signedAtMs,
  }
