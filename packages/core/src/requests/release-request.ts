import type { Needs } from '../context.ts'
import type { Lease } from './request.ts'
import { releaseRow } from './store.ts'

/** Nothing happened and nothing is kept: the key is free for the next try. */
export const releaseRequest = (ctx: Needs<'db'>, lease: Lease): Promise<void> => releaseRow(ctx.db, lease)
