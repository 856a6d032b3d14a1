import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Job } from './job.ts'
import { addJobCall, insertJob } from './store.ts'

interface Later {
  readonly inMs: number
  readonly why: 'due' | 'held'
}

/** Asks for an agent's events to be delivered, now or later. */
export const askToCarry = (db: Db | Tx, agentId: AgentId, later?: Later): Promise<void> =>
  insertJob(db, carryEvents(agentId, later))

/** The same request as a part of the statement that writes the event. */
export const askToCarryCall = (agentId: AgentId) => addJobCall(carryEvents(agentId))

/**
 * One job waits per agent, and keeps its place in the queue however many events follow. Jobs for a next attempt and for
 * watching another worker's lease have keys of their own, so that none is delayed by another.
 */
function carryEvents(agentId: AgentId, later?: Later): Job<'carry-events'> {
  const isNow = later === undefined || (later.why === 'due' && later.inMs === 0)
  const key = isNow ? 'carry-events' : `carry-events-${later.why}`
  return {
    name: 'carry-events',
    payload: { agentId },
    key: `${key}:${agentId}`,
    inMs: later?.inMs ?? 0,
    // The newest observation decides when the next attempt is due; the other jobs keep their time.
    keepsTime: isNow || later.why === 'held',
    // A delivery waits for this attempt, so the sweep that finds deliveries past their time would ask for it again.
    isAskedForAgain: !isNow && later.why === 'due',
  }
}
