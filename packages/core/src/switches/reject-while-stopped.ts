import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { joinWriters } from './store.ts'
import { SWITCHES, type SwitchName } from './switch.ts'

const RETRY_SECONDS = 60

/** Asked inside the transaction that would write: once a switch was answered to be on, nothing comes through. */
export async function rejectWhileStopped(tx: Tx, names: readonly SwitchName[]): Promise<void> {
  if (names.length === 0) return
  const on = await joinWriters(tx)
  const stopping = names.find((name) => on.includes(name))
  if (stopping !== undefined)
    throw new ApiError('unavailable', SWITCHES[stopping], {
      code: stopping,
      retryAfterSeconds: RETRY_SECONDS,
    })
}
