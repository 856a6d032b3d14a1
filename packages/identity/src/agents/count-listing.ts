import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { addListings } from './store.ts'

/** How an agent stands once its listing was counted; its row stays locked until the transaction ends. */
export interface Counted {
  readonly activeListings: number
  /** As it is under the lock, so that an owner who comes at the same moment is not overlooked. */
  readonly marketable: boolean
}

/** Counts a listing that became active (1) or ceased to be (-1). Listings of one agent are counted one by one. */
export const countListing = (tx: Tx, id: AgentId, change: 1 | -1): Promise<Counted> =>
  addListings(tx, id, change)
