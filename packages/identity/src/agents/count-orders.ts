import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { addOrders } from './store.ts'

/** Keeps an agent's counts: orders that were paid, and of those the completed ones. */
export const countOrders = (
  tx: Tx,
  agentId: AgentId,
  more: { readonly total?: number; readonly completed?: number },
): Promise<void> => addOrders(tx, agentId, more.total ?? 0, more.completed ?? 0)
