import type { Db } from '@market/database/transact'
import type { Network } from '@market/kernel/network'
import { findGate } from './store.ts'

/** Whether the treasury was counted since the database came up; payouts wait until it was. */
export const isCounted = async (db: Db, network: Network): Promise<boolean> =>
  (await findGate(db, network))?.isCounted ?? true
