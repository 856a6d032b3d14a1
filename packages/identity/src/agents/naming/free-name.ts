import { record } from '@market/core/audit'
import type { Actor, Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { HOUR } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { looksLike, type Skeletons, skeletonsOf } from '../../names/index.ts'
import type { Agent } from '../agent.ts'
import { lockAgent, saveAgent } from '../store.ts'
import { findAgentsNamed } from './find-named.ts'

/** `last_seen_at` of an agent without an owner is written again after this time. */
export const SEEN_EVERY_MS = HOUR
/** An agent without an owner keeps its name for 24 h after a call, which `last_seen_at` may show an hour too early. */
const UNUSED_AFTER_MS = 24 * HOUR + SEEN_EVERY_MS

const NAME_LENGTH = 40
const SUFFIX_LENGTH = 8

/** Whether another agent may take this agent's name: it has no owner and made no call for 24 h. */
export const isUnused = (agent: Agent, now: Date): boolean =>
  !agent.marketable && now.getTime() - agent.lastSeenAt.getTime() >= UNUSED_AFTER_MS

/** The name with the end of the id, within the longest name that the contract allows. */
export function suffixedName({ id, name }: Pick<Agent, 'id' | 'name'>): string {
  const start = [...name].slice(0, NAME_LENGTH - SUFFIX_LENGTH - 1)
  return `${start.join('').trimEnd()} ${id.slice(-SUFFIX_LENGTH)}`
}

type Ctx = Needs<'clock' | 'ids' | 'vault'> & Partial<Needs<'requestId'>>

/** Renames agents that look like this name and are unused. Returns the agent that keeps the name, if there is one. */
export async function freeName(
  ctx: Ctx,
  tx: Tx,
  skeletons: Skeletons,
  takenBy: AgentId,
): Promise<Agent | undefined> {
  const now = ctx.clock.now()
  for (const found of await findAgentsNamed(tx, skeletons)) {
    if (found.id === takenBy) continue
    if (!isUnused(found, now)) return found
    // Another transaction may have renamed it, or given it an owner, before its row could be locked.
    const agent = await lockAgent(tx, found.id)
    if (agent === undefined || !looksLike(skeletonsOf(agent.name), skeletons)) continue
    if (!isUnused(agent, now)) return agent
    if ((await renameWithSuffix(asTaker(ctx, takenBy), tx, agent, takenBy)) === undefined) return agent
  }
  return undefined
}

/** A paid registration may end in the worker, without a caller and a request: the audit log names the new agent. */
const asTaker = (ctx: Ctx, agentId: AgentId) => ({
  ...ctx,
  actor: { kind: 'agent', agentId } as const,
  requestId: ctx.requestId ?? ctx.ids.next('cmd'),
})

/** Gives the agent its name with a suffix, because `takenBy` has the name. Undefined when that name is taken too. */
async function renameWithSuffix(
  ctx: Needs<'clock' | 'ids' | 'vault' | 'requestId'> & { readonly actor: Actor },
  tx: Tx,
  agent: Agent,
  takenBy: AgentId,
): Promise<Agent | undefined> {
  const name = suffixedName(agent)
  const skeletons = skeletonsOf(name)
  const others = await findAgentsNamed(tx, skeletons)
  if (others.some(({ id }) => id !== agent.id)) return undefined
  const renamed = await saveAgent(tx, agent.id, { name, ...skeletons, updated_at: ctx.clock.now() })
  await record(ctx, tx, {
    act: 'agents.name_lost',
    subject: agent.id,
    details: { from: agent.name, to: name, taken_by: takenBy },
  })
  return renamed
}
