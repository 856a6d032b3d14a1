import type { Needs, SystemActor } from '@market/core/context'
import { type Tx, transact } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { checkName, skeletonsOf } from '../../names/index.ts'
import type { Agent } from '../agent.ts'
import { lockAgent, saveAgent } from '../store.ts'
import { findAgentsNamed, findUnfoldedAgents } from './find-named.ts'
import { renameWithSuffix } from './free-name.ts'

const ACTOR: SystemActor = { kind: 'system', name: 'fold-names' }

const BATCH = 200
/** In one run, so that a worker that stops does not wait for long; the next run continues. */
const MOST_BATCHES = 25

export interface FoldedNames {
  readonly folded: number
  readonly renamed: readonly AgentId[]
  /** Agents that keep a name which a new agent could not register. */
  readonly notAllowed: readonly AgentId[]
}

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault'>

/**
 * Computes the skeletons of names from before migration 0042, oldest agent first. Of two names that look alike, the
 * older agent keeps its name and the newer one gets a suffix.
 */
export async function foldNames(ctx: Ctx): Promise<FoldedNames> {
  const renamed = new Set<AgentId>()
  const notAllowed: AgentId[] = []
  let folded = 0
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const agents = await findUnfoldedAgents(ctx.db, BATCH)
    for (const { id, name } of agents) {
      for (const other of await transact(ctx.db, (tx) => foldName(ctx, tx, id))) renamed.add(other)
      if (!isAllowed(name)) notAllowed.push(id)
      folded += 1
    }
    if (agents.length < BATCH) break
  }
  return { folded, renamed: [...renamed], notAllowed }
}

/** Returns the agents that were renamed. */
async function foldName(ctx: Ctx, tx: Tx, id: AgentId): Promise<AgentId[]> {
  const asCommand = { ...ctx, actor: ACTOR, requestId: ctx.ids.next('cmd') }
  const agent = await lockAgent(tx, id)
  if (agent === undefined) return []
  const skeletons = skeletonsOf(agent.name)
  const others = (await findAgentsNamed(tx, skeletons)).filter((other) => other.id !== id)
  const older = others.find((other) => isOlder(other, agent))
  if (older !== undefined) {
    await rename(agent, older.id)
    return [id]
  }
  for (const newer of others) await rename(newer, id)
  await saveAgent(tx, id, skeletons)
  return others.map((other) => other.id)

  async function rename(loser: Agent, keeper: AgentId): Promise<void> {
    const done = await renameWithSuffix(asCommand, tx, loser, keeper)
    if (done === undefined) throw new Error(`the name of ${loser.id} with its suffix is taken`)
  }
}

const isOlder = (one: Agent, other: Agent): boolean =>
  one.createdAt < other.createdAt ||
  (one.createdAt.getTime() === other.createdAt.getTime() && one.id < other.id)

function isAllowed(name: string): boolean {
  try {
    checkName(name)
    return true
  } catch {
    return false
  }
}
