import type { Needs } from '../context.ts'
import { findSilent, forgetPools, freeJobs } from './store.ts'

/** Silent for this long is dead. Jobs are idempotent, so a worker that was only slow does no harm. */
const DEAD_AFTER_SECONDS = 5

/** Gives the jobs of dead workers to the living; the engine itself would leave them locked for four hours. */
export async function freeSilent(ctx: Needs<'db'>): Promise<readonly string[]> {
  const silent = await findSilent(ctx.db, DEAD_AFTER_SECONDS)
  if (silent.length === 0) return silent
  await freeJobs(ctx.db, silent)
  await forgetPools(ctx.db, silent)
  return silent
}
