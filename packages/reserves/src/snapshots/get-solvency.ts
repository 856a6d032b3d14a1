import type { Needs } from '@market/core/context'
import { DAY, earlier } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { dayOf, type Snapshot } from './snapshot.ts'
import { findNewest, findNewestDay, listDays } from './store.ts'

export interface NetworkSolvency {
  readonly newest: Snapshot
  /** The newest snapshot with a proof. */
  readonly proven: Snapshot | undefined
  /** The newest day's snapshot. */
  readonly ofDay: Snapshot | undefined
}

/** The newest snapshots of each network; networks without one are left out. */
export async function getSolvency({ db, clock }: Needs<'db' | 'clock'>): Promise<NetworkSolvency[]> {
  const networks: NetworkSolvency[] = []
  const now = clock.now()
  for (const network of NETWORKS) {
    const newest = await findNewest(db, network, now)
    if (newest === undefined) continue
    const proven = await findNewest(db, network, now, 'proven')
    networks.push({ newest, proven, ofDay: await findNewestDay(db, network) })
  }
  return networks
}

/** The day's snapshots of every network in the last days, newest first. */
export const getSolvencyHistory = ({ db, clock }: Needs<'db' | 'clock'>, days: number): Promise<Snapshot[]> =>
  listDays(db, dayOf(earlier(clock.now(), (days - 1) * DAY)))
