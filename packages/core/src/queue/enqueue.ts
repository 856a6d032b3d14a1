import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Job, JobName, PromptSweep } from './job.ts'
import { addJobCall, insertJob } from './store.ts'

interface Delay {
  readonly delayMs: number
  /** `due`: the next attempt is due then. `leased`: the lease of another worker ends then. */
  readonly reason: 'due' | 'leased'
}

/** Adds a job in the caller's transaction, so that it exists only if that transaction is committed. */
export const enqueue = <Name extends JobName>(db: Db | Tx, job: Job<Name>): Promise<void> =>
  insertJob(db, job)

/** Enqueues the delivery of an agent's events, now or later. */
export const enqueueDelivery = (db: Db | Tx, agentId: AgentId, delay?: Delay): Promise<void> =>
  insertJob(db, deliverEvents(agentId, delay))

/** The same as a part of the statement that inserts the event. */
export const enqueueDeliveryCall = (agentId: AgentId) => addJobCall(deliverEvents(agentId))

/**
 * As a part of the statement that makes work due: the sweep runs at once after the commit. Without a key, because requests
 * that insert the same key wait for each other's commit.
 */
export const runSweepCall = (sweep: PromptSweep) => addJobCall({ name: 'run-sweep', payload: { sweep } })

/**
 * One job waits per agent, and keeps its place in the queue however many events follow. Jobs for the next attempt and
 * for the end of another worker's lease have their own keys, so that none of the three delays another.
 */
function deliverEvents(agentId: AgentId, delay?: Delay): Job<'deliver-events'> {
  const isNow = delay === undefined || (delay.reason === 'due' && delay.delayMs === 0)
  const key = isNow ? 'deliver-events' : `deliver-events-${delay.reason}`
  return {
    name: 'deliver-events',
    payload: { agentId },
    key: `${key}:${agentId}`,
    delayMs: delay?.delayMs ?? 0,
    // The latest run decides when the next attempt is due; the other jobs keep their time.
    preserveRunAt: isNow || delay.reason === 'leased',
    // The delivery is stored as due, so the sweep for overdue deliveries would enqueue this job again.
    isRecoverable: !isNow && delay.reason === 'due',
  }
}
