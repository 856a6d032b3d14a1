import type { Needs } from '../context.ts'
import { freeUnknown } from './store.ts'

/** Longer than any answer of the database is waited for. */
const LOST_AFTER_SECONDS = 10

/**
 * Gives back the jobs that the database counts as held by living workers, and that these workers do not know of: a
 * connection that breaks may take the answer with it, and nobody would look at such a job for hours.
 */
export const freeForgotten = (
  ctx: Needs<'db'>,
  poolIds: readonly string[],
  known: readonly string[],
): Promise<number> => freeUnknown(ctx.db, poolIds, known, LOST_AFTER_SECONDS)
