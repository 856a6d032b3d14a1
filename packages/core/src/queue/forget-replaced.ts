import type { Needs } from '../context.ts'
import { deleteReplaced } from './store.ts'

/** Clears away jobs that were replaced while a worker held them, and that nobody will ever do. */
export const forgetReplaced = (ctx: Needs<'db'>): Promise<void> => deleteReplaced(ctx.db)
