import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { findLastAnchored } from './anchors/store.ts'
import { findNewest } from './store.ts'

export interface ReserveMetrics {
  /** Since the newest snapshot of each of the networks, taken by any worker. */
  readonly snapshots: readonly { readonly network: Network; readonly ageMs: number }[]
  /** Since the newest final anchor; before the first, since the first day's snapshot. */
  readonly anchorAgeMs: number
}

export async function reserveMetrics(
  { db, clock }: Needs<'db' | 'clock'>,
  networks: readonly Network[],
): Promise<ReserveMetrics> {
  const now = clock.now()
  const ageOf = (at: Date): number => Math.max(0, now.getTime() - at.getTime())
  const newest = await Promise.all(networks.map((network) => findNewest(db, network, now)))
  return {
    snapshots: newest.flatMap((one) =>
      one === undefined ? [] : [{ network: one.network, ageMs: ageOf(one.takenAt) }],
    ),
    anchorAgeMs: ageOf((await findLastAnchored(db)) ?? now),
  }
}
