import type { Actor } from '@market/core/context'
import { findWallets } from '@market/identity/accounts'
import type { HandlerContext, OwnerContext } from './handler.ts'
import { ownerOf } from './owner-of.ts'
import { requireAgent } from './require-actor.ts'

/** The caller with the wallets that this request proves. An agent's API key proves none. */
export async function loadActor(ctx: OwnerContext): Promise<Actor> {
  const { actor, caller } = ctx
  const signed = caller.cosigner === undefined ? [] : [caller.cosigner]
  switch (actor.kind) {
    case 'user': {
      const { wallets } = await ownerOf(ctx)
      return { ...actor, wallets: [...signed, ...wallets] }
    }
    case 'agent':
      return { ...actor, wallets: signed }
    default:
      return actor
  }
}

/**
 * The caller who pays. The wallets of an agent's owner may pay for the agent's orders: the owner wallet and those that are
 * stored for the owner's account.
 */
export async function loadPayer(ctx: HandlerContext): Promise<Actor> {
  const actor = await loadActor(ctx)
  if (actor.kind !== 'agent') return actor
  const { ownerWallet, ownerProvenBy, ownerUserId } = requireAgent(ctx)
  const linked = ownerUserId === null ? [] : await findWallets(ctx.db, ownerUserId)
  // Before it was recorded how owner wallets were proven, contracts were asked on Base only.
  const provenBy = ownerProvenBy ?? 'base-mainnet'
  const own = ownerWallet === null ? [] : [{ key: ownerWallet, provenBy }]
  return { ...actor, ownerWallets: [...own, ...linked] }
}
