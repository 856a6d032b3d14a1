import { NETWORKS } from '@market/kernel/network'
import type { Needs } from '../context.ts'
import type { ReserveLook } from './look.ts'
import { findNewest } from './store.ts'

export interface Standing {
  readonly newest: ReserveLook
  /** The newest look that wrote down every liability. */
  readonly proven: ReserveLook | undefined
}

/** How each network stood when it was last looked at; one that never was is left out. */
export async function getSolvency({ db }: Needs<'db'>): Promise<Standing[]> {
  const standings: Standing[] = []
  for (const network of NETWORKS) {
    const newest = await findNewest(db, network)
    if (newest !== undefined) standings.push({ newest, proven: await findNewest(db, network, 'proven') })
  }
  return standings
}
