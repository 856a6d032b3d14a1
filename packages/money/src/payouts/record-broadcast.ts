import { transact } from '@market/database/transact'
import { isSuspended } from './hold.ts'
import type { Payout } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { lockPayout, savePayout } from './store.ts'

const LONGEST_ERROR = 200

/** Records the error of the last broadcast of a signed payout for operators, or clears it. */
export async function recordBroadcast(
  ctx: PayoutContext,
  { id, round, holdCode }: Pick<Payout, 'id' | 'round' | 'holdCode'>,
  error: string | undefined,
): Promise<void> {
  if (error === undefined && holdCode === null) return
  const detail = error === undefined ? null : oneLine(error)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    const isRecorded = locked.holdDetail === detail && (detail !== null || locked.holdCode === null)
    if (locked.state !== 'signed' || locked.round !== round || isRecorded) return
    if (isSuspended(locked.holdCode)) return
    const hold = detail === null ? undefined : ({ code: 'broadcast_error', detail } as const)
    await savePayout(tx, locked, 'record_broadcast', { hold }, ctx.clock.now())
  })
}

/** Postgres rejects text with a NUL character, and nodes may send one. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST_ERROR)
