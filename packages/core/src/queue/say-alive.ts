import type { Needs } from '../context.ts'
import { forgetPools, saveAlive } from './store.ts'

/** A worker process says that it is there; one that ends in peace says that too. */
export const sayAlive = (ctx: Needs<'db'>, poolIds: readonly string[]): Promise<void> =>
  saveAlive(ctx.db, poolIds)

export const sayGoodbye = (ctx: Needs<'db'>, poolIds: readonly string[]): Promise<void> =>
  forgetPools(ctx.db, poolIds)
