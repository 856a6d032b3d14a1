import type { Needs } from '../context.ts'
import { bringForward } from './store.ts'

/** The engine waits ever longer after each failure, up to hours; whatever failed here was an outage, and those end. */
const LONGEST_WAIT_SECONDS = 5

/** Tries failed jobs again soon, however often they failed. */
export const hurryFailed = (ctx: Needs<'db'>): Promise<void> => bringForward(ctx.db, LONGEST_WAIT_SECONDS)
