import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { RawBuilder } from 'kysely'
import type { Needs } from '../context.ts'
import { enqueueDeliveryCall } from '../queue/index.ts'
import type { Buyer, BuyerEvent, EventDataOf, EventName } from './event.ts'
import { insertEvent, newEvent } from './store.ts'

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
  const reader = { kind: 'agent', key: agentId } as const
  return insertEvent(tx, reader, { at: ctx.clock.now(), event, orderId, data }, enqueueDeliveryCall(agentId))
}

/** The order whose buyer reads the event. */
interface BoughtOrder {
  readonly id: string
  readonly buyer: Buyer
}

/** Records an event for the buyer of an order. Emit before shared rows are locked; see `lockBuyerEvents`. */
export const emitToBuyer = (
  ctx: Needs<'clock'>,
  tx: Tx,
  { id, buyer }: BoughtOrder,
  event: BuyerEvent,
): Promise<bigint> =>
  insertEvent(tx, { kind: 'buyer', key: buyer }, { ...event, at: ctx.clock.now(), orderId: id })

/** The same as parts of the statement that saves the order. */
export const newBuyerEvent = ({ id, buyer }: BoughtOrder, event: BuyerEvent, at: Date): RawBuilder<unknown> =>
  newEvent({ kind: 'buyer', key: buyer }, { ...event, at, orderId: id })
