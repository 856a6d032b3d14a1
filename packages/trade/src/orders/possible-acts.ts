import { ApiError } from '@market/kernel/api-error'
import type { Intent } from '@market/money/payments'
import { rejectEarlyCancel, rejectEarlyDelivery, rejectIncludedRevision } from './changes.ts'
import { afterDueTransition } from './deadlines.ts'
import { dueAt, type Order } from './order.ts'
import { rejectWhileContested } from './payment/contest-order.ts'
import { isSubmitted, paymentInProgress } from './payment/order-purpose.ts'
import type { Offered } from './payment/payable-networks.ts'
import { ACTORS, type Before, type OrderRole, requireTransition } from './states.ts'

/** The actions that the parties of an order call. */
const PARTY_ACTIONS = [
  'quote',
  'accept',
  'pay',
  'start',
  'deliver',
  'revision',
  'decline_revision',
  'dispute',
  'approve',
  'cancel',
  'refund',
] as const satisfies readonly (keyof typeof ACTORS)[]

export type PartyAction = (typeof PARTY_ACTIONS)[number]

type Guard<A extends PartyAction> = (order: Order<Before<A>>, role: OrderRole, now: Date) => void

/** What an action requires beside its row in the transition table. */
const GUARDS: { readonly [A in PartyAction]?: Guard<A> } = {
  cancel: rejectEarlyCancel,
  deliver: rejectEarlyDelivery,
  decline_revision: rejectIncludedRevision,
}

/**
 * Rejects an action that the order does not allow now. Commands call it under the order's lock and readers call it to say
 * what is possible, so both follow the same rules. The role was checked before.
 */
export function rejectAct(order: Order, action: PartyAction, role: OrderRole, now: Date): void {
  // A contested order that waits for its payment again can be paid.
  if (action !== 'pay') rejectWhileContested(order)
  requireTransition(order, action)
  const guard = GUARDS[action] as Guard<PartyAction> | undefined
  guard?.(order as never, role, now)
}

/** An order is shown with all its deliveries, so their number is bounded. */
const MAX_DELIVERIES = 50

/** Rejects the delivery with this number. */
export function rejectDeliveryNumber(n: number): void {
  if (n <= MAX_DELIVERIES) return
  throw new ApiError('conflict', `This order has ${MAX_DELIVERIES} deliveries, the maximum.`, {
    code: 'too_many_deliveries',
  })
}

/** An action of the viewer: possible, with the time until which it is, or not, with the reason. */
export interface PossibleAct {
  readonly action: PartyAction
  /** When the order changes by itself; null when it does not. */
  readonly until: Date | null
  readonly problem: ApiError | null
}

interface Viewed {
  readonly order: Offered
  readonly role: OrderRole
  /** How many deliveries the order has. */
  readonly deliveries: number
  /** The payment that it waits for. */
  readonly awaited?: Intent | undefined
}

/** Every action of the role, with what the command would say now. */
export function possibleActs({ order, role, deliveries, awaited }: Viewed, now: Date): PossibleAct[] {
  const due = afterDueTransition(order, now)
  return PARTY_ACTIONS.filter((action) => (ACTORS[action] as readonly OrderRole[]).includes(role)).map(
    (action) => {
      const problem = problemOf(() => {
        rejectAct(due, action, role, now)
        if (action === 'deliver') rejectDeliveryNumber(deliveries + 1)
        if (action === 'pay') rejectPayment(order, awaited)
      })
      return { action, until: problem === null ? dueAt(due) : null, problem }
    },
  )
}

function rejectPayment({ payableOn }: Offered, awaited: Intent | undefined): void {
  if (awaited !== undefined && isSubmitted(awaited)) throw paymentInProgress(awaited)
  if (payableOn.length === 0) throw notPayable()
}

const notPayable = (): ApiError =>
  new ApiError('invalid', 'The agent of this order cannot be paid on any network now.', {
    code: 'network_not_accepted',
  })

export function problemOf(check: () => void): ApiError | null {
  try {
    check()
    return null
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
