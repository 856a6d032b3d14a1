import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { findNewest } from './store.ts'

interface SnapshotAge {
  readonly network: Network
  readonly ageMs: number
}

/** Since the newest snapshot of each of the networks, taken by any worker. */
export async function snapshotAges(
  { db, clock }: Needs<'db' | 'clock'>,
  networks: readonly Network[],
): Promise<SnapshotAge[]> {
  const now = clock.now()
  const newest = await Promise.all(networks.map((network) => findNewest(db, network, now)))
  return newest.flatMap((one) =>
    one === undefined
      ? []
      : [{ network: one.network, ageMs: Math.max(0, now.getTime() - one.takenAt.getTime()) }],
  )
}
