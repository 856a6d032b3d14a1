import type { Needs } from '@market/core/context'
import { NETWORKS } from '@market/kernel/network'
import type { Snapshot } from './snapshot.ts'
import { findNewest } from './store.ts'

export interface Standing {
  readonly newest: Snapshot
  /** The newest look that wrote down every liability. */
  readonly proven: Snapshot | undefined
}

/** How each network stood when it was last looked at; one that never was is left out. */
export async function getSolvency({ db, clock }: Needs<'db' | 'clock'>): Promise<Standing[]> {
  const standings: Standing[] = []
  const now = clock.now()
  for (const network of NETWORKS) {
    const newest = await findNewest(db, network, now)
    if (newest !== undefined) standings.push({ newest, proven: await findNewest(db, network, now, 'proven') })
  }
  return standings
}
