import { SECOND } from '@market/kernel/clock'

/** An attempt without a 2xx response within this time has failed. */
export const TIMEOUT_MS = 5 * SECOND

/** The delay after the first and after the second failure. There is no attempt after the third. */
const RETRY_DELAYS_MS = [1 * SECOND, 4 * SECOND]

export type DeliveryStatus = 'pending' | 'delivered' | 'dropped'

export interface WebhookDelivery {
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

export interface AttemptResult {
  readonly at: Date
  readonly responseStatus: number | null
  /** Null after a 2xx response. */
  readonly failure: string | null
}

/** The state of a delivery after its next attempt. */
export function afterAttempt(
  delivery: Pick<WebhookDelivery, 'attempts'>,
  result: AttemptResult,
): { status: DeliveryStatus; attempts: number; dueAt: Date | null; endedAt: Date | null } {
  const attempts = delivery.attempts + 1
  if (result.failure === null) return { status: 'delivered', attempts, dueAt: null, endedAt: result.at }
  const delay = RETRY_DELAYS_MS[attempts - 1]
  if (delay === undefined) return { status: 'dropped', attempts, dueAt: null, endedAt: result.at }
  return { status: 'pending', attempts, dueAt: new Date(result.at.getTime() + delay), endedAt: null }
}
