import { ApiError } from '@market/kernel/api-error'
import { DAY, later, latest } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Listing } from '@market/offers/listings'
import { type Core, isOpenWorkspace, type Order, type PriceType } from './order.ts'

/** How long a workspace is open. An order with a quoted price opens none. */
const PERIOD_MS: Readonly<Record<PriceType, number>> = {
  fixed: DAY,
  weekly: 7 * DAY,
  monthly: 30 * DAY,
  quote: 0,
}

export const quotaOf = ({ priceType, quotaLimit }: Pick<Listing, 'priceType' | 'quotaLimit'>): number =>
  PERIOD_MS[priceType] === 0 ? 0 : quotaLimit

export const workspaceEnd = ({ quotaTotal, priceType }: Core, paidAt: Date): Date | null =>
  quotaTotal === 0 ? null : later(paidAt, PERIOD_MS[priceType])

/** Takes one unit of the quota. The order stays open until the deadline of what was requested. */
export function takeUnit(order: Order<'in_progress'>, now: Date, deadline: Date): Order<'in_progress'> {
  const { quotaTotal, quotaUsed, workspaceEndsAt } = order
  if (workspaceEndsAt === null || now >= workspaceEndsAt)
    throw new ApiError(
      'conflict',
      `This workspace ended at ${workspaceEndsAt?.toISOString()}. Order the service again.`,
      {
        code: 'workspace_ended',
      },
    )
  if (quotaUsed >= quotaTotal)
    throw new ApiError(
      'conflict',
      `All ${quotaTotal} generations are completed or pending. Order the service again, or retry if a pending one fails.`,
      { code: 'quota_used_up' },
    )
  return {
    ...order,
    quotaUsed: quotaUsed + 1,
    quotaPending: order.quotaPending + 1,
    deliverBy: latest(order.deliverBy, deadline),
  }
}

export const completeUnit = <T extends Core>(order: T): T => ({
  ...order,
  quotaPending: order.quotaPending - 1,
})

/**
 * A generation that was not completed returns its unit. It counts as failed unless the agent was not allowed to answer for a
 * time. An order that ended meanwhile has returned it already.
 */
export const returnUnit = <T extends Core>(order: T, isFailed = true): T =>
  order.quotaPending === 0
    ? order
    : {
        ...order,
        quotaUsed: order.quotaUsed - 1,
        quotaPending: order.quotaPending - 1,
        quotaFailed: order.quotaFailed + (isFailed ? 1 : 0),
      }

/** How many generations the agent has completed. */
export const completedUnits = ({ quotaUsed, quotaPending }: Pick<Core, QuotaField>): number =>
  quotaUsed - quotaPending

type QuotaField = 'quotaUsed' | 'quotaPending' | 'quotaFailed'

export const isUsedUp = ({ quotaTotal, quotaUsed, quotaPending }: Core): boolean =>
  quotaUsed === quotaTotal && quotaPending === 0

/** Of an order that ends: what waits for the agent then has failed, because its deadline has passed. */
export const withoutPending = <T extends Core>(order: T): T => ({
  ...order,
  quotaUsed: order.quotaUsed - order.quotaPending,
  quotaPending: 0,
  quotaFailed: order.quotaFailed + order.quotaPending,
})

/**
 * The agent's part of the price when the order ends without an arbiter: of a workspace completed ÷ (completed + failed),
 * where what is pending has failed; the whole price when nothing was requested.
 */
export function earnedPart(order: Pick<Core, QuotaField> & { readonly price: Usdc }): Usdc {
  const asked = order.quotaUsed + order.quotaFailed
  // fix: settled-by-count
  if (asked > 0) return usdc((order.price * BigInt(completedUnits(order))) / BigInt(asked))
  return order.price
}

export function rejectOpenWorkspace(order: Order, what: string): void {
  if (!isOpenWorkspace(order)) return
  throw new ApiError('invalid', `This order is a workspace until ${order.deliverBy.toISOString()}. ${what}`, {
    code: 'workspace_open',
  })
}
