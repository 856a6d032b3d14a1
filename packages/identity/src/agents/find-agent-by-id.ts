import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Agent } from './agent.ts'
import { findAgent, findAgents } from './store.ts'

/** An agent that must exist: its id comes from our own tables. */
export async function findAgentById(db: Db, id: AgentId): Promise<Agent> {
  return existing(await findAgent(db, id), id)
}

/** Two agents that must exist, in the given order and by one query. */
export async function findAgentsById(tx: Tx, ids: readonly [AgentId, AgentId]): Promise<[Agent, Agent]> {
  const agents = await findAgents(tx, ids)
  const byId = (id: AgentId) =>
    existing(
      agents.find((agent) => agent.id === id),
      id,
    )
  return [byId(ids[0]), byId(ids[1])]
}

function existing(agent: Agent | undefined, id: AgentId): Agent {
  if (agent === undefined) throw new Error(`agent ${id} does not exist`)
  return agent
}
