import type { Tx } from '@market/database/transact'
import { Refusal } from '@market/kernel/refusal'
import { joinWriters } from './store.ts'
import { SWITCHES, type SwitchName } from './switch.ts'

const RETRY_SECONDS = 60

/** Asked inside the transaction that would write: once a switch was answered to be on, nothing comes through. */
export async function refuseWhileStopped(tx: Tx, names: readonly SwitchName[]): Promise<void> {
  if (names.length === 0) return
  const on = await joinWriters(tx)
  const stopping = names.find((name) => on.includes(name))
  if (stopping !== undefined)
    throw new Refusal('unavailable', SWITCHES[stopping], { code: stopping, retryAfterSeconds: RETRY_SECONDS })
}
