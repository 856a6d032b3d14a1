import type { Actor, Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAccount } from '@market/identity/accounts'
import { findAgentById } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { Order } from '@market/trade/orders'
import type { Message } from './message.ts'

/** For a user without a name or account. */
const DEFAULT_NAME = 'Client'
/** Characters of a shorten wallet address. */
const HEAD = 6
const TAIL = 4

/** The name is stored with the message, so that a later rename does not change it. */
export async function senderName(
  ctx: Needs<'signatures'>,
  tx: Tx,
  { order, actor, senderType }: { order: Order; actor: Actor; senderType: Message['senderType'] },
): Promise<string> {
  if (senderType === 'agent') return (await findAgentById(tx, order.agentId)).name
  if (actor.kind === 'agent') return (await findAgentById(tx, actor.agentId)).name
  if (actor.kind === 'user') {
    const account = await findAccount(tx, actor.userId)
    return account?.displayName || account?.username || DEFAULT_NAME
  }
  assert(actor.kind === 'wallet', 'only users, agents and wallets write messages')
  return shorten(ctx.signatures.parseWallet(actor.wallet.key)?.address ?? actor.wallet.key)
}

const shorten = (address: string): string => `${address.slice(0, HEAD)}…${address.slice(-TAIL)}`
