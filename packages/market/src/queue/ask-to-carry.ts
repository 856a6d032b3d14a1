import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { insertJob } from './store.ts'

/**
 * Asks for an agent's events to be carried. One request waits per agent, and keeps its place in the line however many
 * events follow it. Later ones, for a next attempt or to watch over another's hold, wait apart, so that neither is put
 * off by the other.
 */
export function askToCarry(
  db: Db | Tx,
  agentId: AgentId,
  later?: { readonly inMs: number; readonly why: 'due' | 'held' },
): Promise<void> {
  const isNow = later === undefined || (later.why === 'due' && later.inMs === 0)
  const key = isNow ? 'carry-events' : `carry-events-${later.why}`
  return insertJob(db, {
    name: 'carry-events',
    payload: { agentId },
    key: `${key}:${agentId}`,
    inMs: later?.inMs ?? 0,
    // The next attempt is when the newest look says it is; the others keep the time they have.
    keepsTime: isNow || later.why === 'held',
  })
}
