import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { addRating } from './store.ts'

/** A buyer reviewed an order of this agent with 1 to 5 stars. */
export const countRating = (tx: Tx, id: AgentId, rating: number): Promise<void> => addRating(tx, id, rating)
