import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { NO_ADDRESS, type Payout, type PayoutId } from './payout.ts'
import { findPayout, lockPayout, startRound } from './store.ts'

/**
 * Tries a failed payout again, to the same payee or to another one. Nothing of it can take effect any more, so it is as
 * if it had just been asked for. Whoever calls this writes down who wanted it.
 */
export async function retryPayout(
  ctx: Needs<'clock'>,
  tx: Tx,
  id: PayoutId,
  change: { payee?: string } = {},
): Promise<Payout> {
  if ((await findPayout(tx, id)) === undefined) throw new ApiError('not_found', `There is no payout ${id}`)
  const payout = await lockPayout(tx, id)
  if (payout.state !== 'failed')
    throw new ApiError('conflict', `Only a failed payout can be tried again; this one is ${payout.state}`)
  if (payout.payee === null && change.payee === undefined)
    throw new ApiError('unprocessable', `${NO_ADDRESS}: say where it is to go`)
  return startRound(tx, payout, ctx.clock.now(), change)
}
