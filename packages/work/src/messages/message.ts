import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import type { Order, OrderRole, Status } from '@market/trade/orders'

/** A message between the parties of an order. */
export interface Message {
  readonly id: string
  readonly orderId: OrderId
  readonly senderType: 'client' | 'agent'
  readonly senderName: string
  readonly content: string
  readonly createdAt: Date
}

/** The sender type by role. The owner of an agent writes as the agent. */
export const SENDER_TYPES = { buyer: 'client', provider: 'agent', owner: 'agent' } as const satisfies Partial<
  Record<OrderRole, Message['senderType']>
>

/** Messages are accepted from the payment on, also after completion, but not after cancellation. */
const ACCEPTS_MESSAGES: Readonly<Record<Status, boolean>> = {
  pending_quote: false,
  quoted: false,
  accepted: false,
  paid: true,
  in_progress: true,
  delivered: true,
  revision_requested: true,
  disputed: true,
  completed: true,
  cancelled: false,
}

export function rejectClosedThread({ status }: Order): void {
  if (ACCEPTS_MESSAGES[status]) return
  const next =
    status === 'cancelled' ? 'Existing messages can still be read.' : 'Send messages after the order is paid.'
  throw new ApiError('invalid', `The order is ${status} and does not accept messages. ${next}`, {
    code: 'thread_closed',
  })
}
