import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { createPartition, dropPartition, findPartitionsBefore } from './store.ts'

const MONTHS_AHEAD = 2
const EVENT_RETENTION_MS = 90 * DAY

/** Creates the monthly partitions of a table in advance, and drops those that lie wholly before `retainedSince`. */
export async function maintainPartitions(
  ctx: Needs<'db' | 'clock'>,
  table: 'events' | 'buyer_events' | 'deliveries',
  retainedSince: Date,
): Promise<void> {
  for (const month of upcomingMonths(ctx.clock.now())) await createPartition(ctx.db, table, month)
  for (const name of await findPartitionsBefore(ctx.db, table, partitionSuffix(retainedSince)))
    await dropPartition(ctx.db, name)
}

export async function maintainEventPartitions(ctx: Needs<'db' | 'clock'>): Promise<void> {
  const retainedSince = earlier(ctx.clock.now(), EVENT_RETENTION_MS)
  await maintainPartitions(ctx, 'events', retainedSince)
  await maintainPartitions(ctx, 'buyer_events', retainedSince)
}

/** The first days of the current month and of the next ones, in UTC. */
const upcomingMonths = (now: Date): Date[] =>
  Array.from(
    { length: MONTHS_AHEAD + 1 },
    (_, n) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1)),
  )

/** `202601` */
const partitionSuffix = (at: Date): string => at.toISOString().slice(0, 7).replace('-', '')
