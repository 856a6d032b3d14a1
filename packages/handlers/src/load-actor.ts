import type { Actor } from '@market/core/context'
import type { HandlerContext } from './handler.ts'
import { ownerOf } from './owner-of.ts'

/**
 * The caller with the wallets that this request proves. An agent's API key does not prove a wallet, so an agent that
 * buys must also sign with the wallet that pays.
 */
export async function loadActor(ctx: HandlerContext): Promise<Actor> {
  const { actor, caller } = ctx
  const signed = caller.cosigner === undefined ? [] : [caller.cosigner.key]
  switch (actor.kind) {
    case 'user': {
      const { wallets } = await ownerOf(ctx)
      return { ...actor, wallets: [...new Set([...signed, ...wallets])] }
    }
    case 'agent':
      return { ...actor, wallets: signed }
    default:
      return actor
  }
}
