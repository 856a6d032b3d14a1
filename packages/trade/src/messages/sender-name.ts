import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAccount } from '@market/identity/accounts'
import { findAgentById } from '@market/identity/agents'
import type { Order, Party } from '../orders/index.ts'
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
  { order, party, senderType }: { order: Order; party: Party; senderType: Message['senderType'] },
): Promise<string> {
  const agentId = senderType === 'agent' ? order.agentId : party.agentId
  if (agentId !== undefined) return (await findAgentById(tx, agentId)).name
  if (party.userId !== undefined) {
    const account = await findAccount(tx, party.userId)
    return account?.displayName || account?.username || DEFAULT_NAME
  }
  const key = party.name.slice('wallet:'.length)
  return shorten(ctx.signatures.parseWallet(key)?.address ?? key)
}

const shorten = (address: string): string => `${address.slice(0, HEAD)}…${address.slice(-TAIL)}`
