import type { Tx } from '@market/database/transact'
import { findSwitchesOn } from './store.ts'
import type { SwitchName } from './switch.ts'

/** Whether one of these is on: for telling somebody, not for deciding; who decides asks `rejectWhileStopped`. */
export async function isStopped(tx: Tx, names: readonly SwitchName[]): Promise<boolean> {
  const on = await findSwitchesOn(tx)
  return names.some((name) => on.includes(name))
}
