import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAccount } from '@market/identity/accounts'
import { findAgentById } from '@market/identity/agents'
import type { Order, Party } from '../orders/index.ts'
import type { Message } from './message.ts'

/** A person who has chosen no name, or has no account yet. */
const NAMELESS = 'Client'
/** So much of a wallet is shown at either end. */
const HEAD = 6
const TAIL = 4

/** As the other side reads it, and as it was when the message was written: a later name changes no message. */
export async function senderName(
  ctx: Needs<'signatures'>,
  tx: Tx,
  { order, party, side }: { order: Order; party: Party; side: Message['senderType'] },
): Promise<string> {
  const agentId = side === 'agent' ? order.agentId : party.agentId
  if (agentId !== undefined) return (await findAgentById(tx, agentId)).name
  if (party.userId !== undefined) {
    const account = await findAccount(tx, party.userId)
    return account?.displayName || account?.username || NAMELESS
  }
  const key = party.name.slice('wallet:'.length)
  return shortened(ctx.signatures.parseWallet(key)?.address ?? key)
}

const shortened = (address: string): string => `${address.slice(0, HEAD)}…${address.slice(-TAIL)}`
