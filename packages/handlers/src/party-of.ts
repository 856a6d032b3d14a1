import { ApiError } from '@market/kernel/api-error'
import type { Party } from '@market/trade/orders'
import type { HandlerContext } from './handler.ts'
import { ownerOf } from './owner-of.ts'

/**
 * The caller as a party to orders, with the wallets that this request proves. An agent's API key does not prove a
 * wallet, so an agent that buys must also sign with the wallet that pays.
 */
export async function partyOf(ctx: HandlerContext): Promise<Party> {
  const { actor, caller } = ctx
  const signed = caller.cosigner === undefined ? [] : [caller.cosigner.key]
  switch (actor.kind) {
    case 'user': {
      const { wallets } = await ownerOf(ctx)
      return {
        name: `user:${actor.userId}`,
        userId: actor.userId,
        wallets: [...new Set([...signed, ...wallets])],
      }
    }
    case 'wallet':
      return { name: `wallet:${actor.wallet.key}`, wallets: [actor.wallet.key] }
    case 'agent':
      return { name: `agent:${actor.agentId}`, agentId: actor.agentId, wallets: signed }
    default:
      throw new ApiError('forbidden', 'An admin key cannot act as a party to an order.', {
        code: 'not_a_party',
      })
  }
}
