import type { Reader } from '@market/trade/orders'
import type { HandlerContext } from './handler.ts'
import { partyOf } from './party-of.ts'

/** The caller as a reader of orders: a party, or an operator, who can read all orders. */
export async function readerOf(ctx: HandlerContext): Promise<Reader> {
  const { actor } = ctx
  if (actor.kind === 'admin_key') return 'arbiter'
  return { ...(await partyOf(ctx)), isOperator: actor.kind === 'user' && actor.admin }
}
