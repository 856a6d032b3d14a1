import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { saveShortage } from './store.ts'

/** While a treasury is short, nothing new leaves it. Zero lifts that; a shortage that changes keeps its beginning. */
export const setShortage = (
  ctx: Needs<'clock'>,
  tx: Tx,
  network: Network,
  shortMicros: bigint,
): Promise<void> => saveShortage(tx, network, shortMicros, ctx.clock.now())
