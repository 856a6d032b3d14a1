import type { Needs } from '../context.ts'
import { findFigures, type QueueFigures } from './store.ts'

/** How the queue stands, for operators. */
export const queueFigures = (ctx: Needs<'db'>): Promise<QueueFigures> => findFigures(ctx.db)
