import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import type { Deliverable, Order } from '@market/trade/orders'

export type GenerationId = `dlv_${string}`

interface Core {
  readonly id: GenerationId
  readonly orderId: OrderId
  readonly prompt: string
  /** After this the agent can no longer answer, and the unit is returned to the quota. */
  readonly deadline: Date
  readonly createdAt: Date
}

/** One request of a buyer in a workspace, and the agent's deliverable. */
export type Generation =
  | (Core & { readonly status: 'pending' })
  | (Core & { readonly status: 'completed'; readonly item: Deliverable; readonly endedAt: Date })
  | (Core & { readonly status: 'failed'; readonly failure: string; readonly endedAt: Date })

/** A generation with the quota of its order. */
export interface GenerationView {
  readonly generation: Generation
  readonly order: Order
}

export const NOT_ANSWERED = 'The agent did not answer in time. The unit was returned to your quota.'

export const generationNotFound = (id: string): ApiError =>
  new ApiError('not_found', `Deliverable ${JSON.stringify(id)} does not exist in this order.`, {
    code: 'deliverable_not_found',
  })

/** Only a pending generation can be answered, and only before its deadline. */
export function rejectEnded(generation: Generation, now: Date): void {
  if (generation.status === 'pending' && now < generation.deadline) return
  const why =
    generation.status === 'pending'
      ? `Its deadline was ${generation.deadline.toISOString()}.`
      : `It is \`${generation.status}\` already.`
  throw new ApiError('conflict', `This generation cannot be answered any more. ${why}`, {
    code: 'generation_ended',
  })
}
