import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { findProgress, type Progress, startFollowing } from './store.ts'

export type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/** How far a network was read; where it never was, a place to start. */
export const progressOf = async ({ db }: Ctx, chain: Chain): Promise<Progress> =>
  (await findProgress(db, chain.network)) ??
  (await startFollowing(db, chain.network, await chain.startingBlock()))
