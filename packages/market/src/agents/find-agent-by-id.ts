import type { Db } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Agent } from './agent.ts'
import { findAgent } from './store.ts'

/** For callers inside the house who hold an id that must exist. */
export async function findAgentById(db: Db, id: AgentId): Promise<Agent> {
  const agent = await findAgent(db, id)
  if (agent === undefined) throw new Error(`agent ${id} is not there`)
  return agent
}
