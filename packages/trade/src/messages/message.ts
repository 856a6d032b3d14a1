import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import type { Order, Role, Status } from '../orders/index.ts'

/** One word of the talk between the parties of an order. */
export interface Message {
  readonly id: string
  readonly orderId: OrderId
  readonly senderType: 'client' | 'agent'
  readonly senderName: string
  readonly content: string
  readonly createdAt: Date
}

/** On which side each party speaks: an agent's owner speaks for the agent. */
export const SIDES = { buyer: 'client', provider: 'agent', owner: 'agent' } as const satisfies Partial<
  Record<Role, Message['senderType']>
>

/** The parties talk from the payment on, and on after the work is approved; there is no talk of what was called off. */
const OPEN: Readonly<Record<Status, boolean>> = {
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
  if (OPEN[status]) return
  const next = status === 'cancelled' ? 'What was said stays to be read.' : 'It opens when the order is paid.'
  throw new ApiError('invalid', `The thread of an order that is ${status} is closed. ${next}`, {
    code: 'thread_closed',
  })
}
