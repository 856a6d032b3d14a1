import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import { enqueueDeliveryCall } from '../queue/index.ts'
import type { EventDataOf, EventName } from './event.ts'
import { insertEvent } from './store.ts'

/**
 * Records an event in the transaction that caused it and enqueues its delivery to the agent. The agent's counter stays
 * locked until the commit, so emit last, and for several agents in the order of their ids.
 */
export function emit<Name extends EventName>(
  ctx: Needs<'clock'>,
  tx: Tx,
  input: { agentId: AgentId; event: Name; orderId?: string; data: EventDataOf[Name] },
): Promise<bigint> {
  const { agentId, event, orderId = '', data } = input
  return insertEvent(tx, { agentId, at: ctx.clock.now(), event, orderId, data }, enqueueDeliveryCall(agentId))
}
