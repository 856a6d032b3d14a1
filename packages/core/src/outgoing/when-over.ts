import { currentEpoch } from '@market/database/epoch'
import type { Needs } from '../context.ts'
import type { ExpiringRail } from '../ports/transactions.ts'
import type { Action, Known } from './action.ts'
import { findAttempts, findHorizon } from './store.ts'

/**
 * What is known of an action of which nothing can be executed any more: neither what is stored nor what an earlier database epoch
 * may have lost. Undefined until then. It does not tell whether something was executed before.
 */
export async function whenOver(
  ctx: Needs<'db'>,
  rail: ExpiringRail,
  action: Action,
): Promise<Known | undefined> {
  const epoch = await currentEpoch(ctx.db)
  const attempts = await findAttempts(ctx.db, action.id)
  const heights = attempts.map(({ lastValidHeight }) => lastValidHeight ?? 0n)
  if (action.key?.epoch !== epoch) {
    const horizon = await findHorizon(ctx.db, rail.network, epoch)
    if (horizon === undefined) return undefined
    heights.push(horizon)
  }
  const final = await rail.finalHeight()
  return heights.every((height) => final > height) ? { attempts: attempts.length, epoch } : undefined
}
