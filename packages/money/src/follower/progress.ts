import type { Needs } from '@market/core/context'
import type { Chain } from '@market/core/ports/chain'
import { findProgress, type Progress, startFollowing } from './store.ts'

export type Ctx = Needs<'db' | 'clock' | 'ids' | 'chains'>

/** How far a network was read; where its treasury never was, a place to start. */
export const progressOf = async ({ db }: Ctx, chain: Chain): Promise<Progress> =>
  (await findProgress(db, chain.network, addressesOf(chain))) ??
  (await startFollowing(db, chain.network, addressesOf(chain), await chain.startingBlock()))

/** In one form, because settings can have an EVM address in any case. */
const addressesOf = (chain: Chain) => ({
  // fix: one-form-of-treasury
  treasury: chain.displayAddress(chain.treasury),
  cold: chain.cold ?? null,
})
