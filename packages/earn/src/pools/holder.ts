import { type Actor, nameOf } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import { ownerRecipients, type Recipient } from '@market/core/notifications'
import type { Db, Tx } from '@market/database/transact'
import { getAgent } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
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

/** Who is told what became of a holder's money: an agent's owners. Nobody, if there is no such agent: its money goes on. */
export async function recipientsOf(db: Db | Tx, holder: string): Promise<Recipient[]> {
  const agentId = agentOf(holder)
  if (agentId === undefined) return [holder as Recipient]
  const agent = await getAgent({ db }, agentId).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found') return undefined
    throw error
  })
  return agent === undefined ? [] : ownerRecipients(agent)
}
