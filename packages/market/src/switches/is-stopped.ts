import type { Tx } from '@market/database/transact'
import { findOneOn } from './store.ts'
import type { SwitchName } from './switch.ts'

/** Whether one of these is on: for telling somebody, not for deciding; who decides asks `refuseWhileStopped`. */
export const isStopped = async (tx: Tx, names: readonly SwitchName[]): Promise<boolean> =>
  (await findOneOn(tx, names)) !== undefined
