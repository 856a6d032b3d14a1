import type { Actor } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import { findWallets } from '../../accounts/index.ts'
import { hasSameOwner } from '../agent.ts'
import { findAgentById } from '../get-agent.ts'

/** Rejects an operator who is one of the parties, or owns one. Wallets of their account count too, however they were proven. */
export async function rejectOwnCase(tx: Tx, actor: Actor, parties: readonly string[]): Promise<void> {
  if (actor.kind !== 'user') return
  const { userId } = actor
  const wallets = await findWallets(tx, userId)
  const names = [`user:${userId}`, ...wallets.map(({ key }) => `wallet:${key}`)]
  if (parties.some((party) => names.includes(party))) throw ownCase()
  for (const party of parties.filter((name) => name.startsWith('agent:'))) {
    const agent = await findAgentById(tx, party.slice('agent:'.length) as AgentId)
    if (hasSameOwner(agent, { userId, wallets })) throw ownCase()
  }
}

const ownCase = (): ApiError =>
  new ApiError('forbidden', 'You are a party to this case. Another operator must decide it.', {
    code: 'own_case',
  })
