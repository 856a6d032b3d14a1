import { SECOND } from '@market/kernel/clock'

/** An attempt that has no 2xx answer within this has failed. */
export const TIMEOUT_MS = 5 * SECOND

/** How long after the first and the second failure the next attempt is due; there is none after the third. */
const GAPS_MS = [1 * SECOND, 4 * SECOND]

export type DeliveryStatus = 'pending' | 'delivered' | 'dropped'

export interface Delivery {
  readonly id: string
  readonly createdAt: Date
  readonly seq: bigint
  readonly event: string
  readonly orderId: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly dueAt: Date | null
  readonly firstAttemptAt: Date | null
  readonly endedAt: Date | null
  readonly responseStatus: number | null
  readonly failure: string | null
}

/** What came of one attempt. */
export interface Outcome {
  readonly at: Date
  readonly responseStatus: number | null
  /** Why it failed, or null for a 2xx. */
  readonly failure: string | null
}

/** What the attempts so far and the newest outcome make of a delivery. */
export function afterAttempt(
  delivery: Pick<Delivery, 'attempts'>,
  outcome: Outcome,
): { status: DeliveryStatus; attempts: number; dueAt: Date | null; endedAt: Date | null } {
  const attempts = delivery.attempts + 1
  if (outcome.failure === null) return { status: 'delivered', attempts, dueAt: null, endedAt: outcome.at }
  const gap = GAPS_MS[attempts - 1]
  if (gap === undefined) return { status: 'dropped', attempts, dueAt: null, endedAt: outcome.at }
  return { status: 'pending', attempts, dueAt: new Date(outcome.at.getTime() + gap), endedAt: null }
}
