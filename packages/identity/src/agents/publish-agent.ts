import { recordActivity } from '@market/core/activity'
import type { Needs } from '@market/core/context'
import { addStatistics } from '@market/core/statistics'
import type { Tx } from '@market/database/transact'
import type { Agent } from './agent.ts'
import { readListingCount } from './store.ts'

/** Counts an agent that got an owner, with its active listings, and adds it to the activity feed. */
export async function publishAgent(ctx: Needs<'clock'>, tx: Tx, { id }: Agent): Promise<void> {
  await addStatistics(
    tx,
    { name: 'agents', amount: 1n },
    { name: 'services', amount: await readListingCount(tx, id) },
  )
  await recordActivity(tx, 'registration', { id, agentId: id, createdAt: ctx.clock.now() })
}
