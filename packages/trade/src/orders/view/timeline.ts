import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Transfer } from '@market/money/payments'
import type { Payout } from '@market/money/payouts'
import type { Delivery, Order } from '../order.ts'
import type { Action, OrderRole, Status } from '../states.ts'

/** A row of `order_steps`. */
export interface StoredStep {
  readonly action: Action
  readonly from: Status
  readonly to: Status
  readonly role: OrderRole
  readonly at: Date
}

/** `market`: the application itself, by a deadline or because of a chain. */
type Side = 'buyer' | 'agent' | 'arbiter' | 'market'

/** Who took a step, without naming the user, wallet or operator. */
const SIDES: Readonly<Record<OrderRole, Side>> = {
  buyer: 'buyer',
  provider: 'agent',
  owner: 'agent',
  arbiter: 'arbiter',
  clock: 'market',
}

interface Money {
  readonly amount: Usdc
  readonly network: Network
  readonly reference: string | null
}

/** What happened to an order, its money or its files. */
export type TimelineEntry = { readonly at: Date } & (
  | {
      readonly kind: 'status'
      readonly action: Action | 'create'
      readonly by: Side
      readonly status: Status
    }
  | { readonly kind: 'payment'; readonly money: Money; readonly isFinal: boolean }
  | { readonly kind: 'delivery'; readonly files: number }
  /** The buyer reads that the agent is paid, not by which transfer. */
  | { readonly kind: 'payout' | 'refund'; readonly money: Money | null; readonly isFinal: boolean }
)

interface Facts {
  readonly order: Order
  readonly role: OrderRole
  /** The newest ones, oldest first. */
  readonly steps: readonly StoredStep[]
  /** Whether `steps` begins with the first one. */
  readonly isWhole: boolean
  readonly deliveries: readonly Delivery[]
  readonly transfer: Transfer | undefined
  readonly payout: Payout | undefined
  readonly refund: Payout | undefined
}

/** States, money and files of an order, oldest first. */
export function timelineOf({
  order,
  role,
  steps,
  isWhole,
  deliveries,
  transfer,
  payout,
  refund,
}: Facts): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...(isWhole
      ? [
          {
            kind: 'status',
            action: 'create',
            by: 'buyer',
            status: steps[0]?.from ?? order.status,
            at: order.createdAt,
          } as const,
        ]
      : []),
    ...steps.map(
      (step): TimelineEntry => ({
        kind: 'status',
        action: step.action,
        by: SIDES[step.role],
        status: step.to,
        at: step.at,
      }),
    ),
    ...deliveries.map(({ at, items }): TimelineEntry => ({ kind: 'delivery', files: items.length, at })),
    ...(transfer === undefined
      ? []
      : [
          {
            kind: 'payment',
            money: transfer,
            isFinal: transfer.state === 'final',
            at: transfer.happenedAt,
          } as const,
        ]),
    ...sent('payout', payout, role !== 'buyer'),
    ...sent('refund', refund, true),
  ]
  return entries.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function sent(kind: 'payout' | 'refund', payout: Payout | undefined, isShown: boolean): TimelineEntry[] {
  if (payout === undefined) return []
  const { amount, network, finalReference: reference, state } = payout
  const isFinal = state === 'final'
  const money = isShown ? { amount, network, reference } : null
  return [{ kind, money, isFinal, at: isFinal ? payout.updatedAt : payout.createdAt }]
}
