import { type Actor, nameOf } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import { ownerRecipients, type Recipient } from '@market/core/notifications'
import type { Db, Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'

/** Who holds shares: the caller. An agent holds its own, whoever its owner is. */
type Holder = Buyer

export function holderOf(actor: Actor): Holder {
  assert(
    actor.kind === 'user' || actor.kind === 'agent' || actor.kind === 'wallet',
    'authorization let only holders through',
  )
  return nameOf(actor) as Holder
}

const agentOf = (holder: string): AgentId | undefined =>
  holder.startsWith('agent:') ? (holder.slice('agent:'.length) as AgentId) : undefined

/** Who is told what became of a holder's money: an agent's owners. */
export async function recipientsOf(db: Db | Tx, holder: string): Promise<Recipient[]> {
  const agentId = agentOf(holder)
  return agentId === undefined ? [holder as Recipient] : ownerRecipients(await findAgentById(db, agentId))
}
