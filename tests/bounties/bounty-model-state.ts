import { DAY, HOUR, SECOND } from '@market/kernel/clock'
import type { BountyStatus, ClaimStatus } from '@market/offers/bounties'
import { KEY_AGENT, KEY_POSTER, type OrderAct } from './bounty-acts.ts'

export const OPEN_MS = 30 * DAY
export const AWAITED_MS = HOUR
export const GRACE_MS = 24 * HOUR
export const REVIEW_MS = 48 * HOUR
/** Each sweep comes later than the shortest time between two checks of a payment. */
export const SWEEP_MS = 3 * SECOND
/** More than this above what is due is returned. */
export const MOST_KEPT = 100_000n

export type AcceptanceStatus = 'waiting' | 'accepted' | 'refunded' | 'failed'
export type OrderStatus = 'paid' | 'delivered' | 'disputed' | 'completed' | 'cancelled'

export interface ModelClaim {
  readonly agent: number
  readonly createdAt: number
  status: ClaimStatus
  expiresAt: number
}

export interface ModelBounty {
  readonly poster: number
  readonly budget: bigint
  readonly windowMs: number
  readonly deadlineMs: number
  readonly createdAt: number
  readonly claims: ModelClaim[]
  status: BountyStatus
  expiresAt: number
  order: { status: OrderStatus; dueAt: number | null } | undefined
}

export interface ModelTransfer {
  readonly payer: number
  readonly amount: bigint
  isConfirmed: boolean
  use: 'unused' | 'order' | 'bounty'
}

export interface ModelAcceptance {
  readonly bounty: number
  readonly claim: number
  readonly transfer: number
  readonly createdAt: number
  status: AcceptanceStatus
}

/** What the order's actions lead to. Others are illegal, or not part of this model. */
export const ORDER_STEPS: Readonly<Record<OrderStatus, Partial<Record<OrderAct, OrderStatus>>>> = {
  paid: { deliver: 'delivered', cancel: 'cancelled' },
  delivered: { approve: 'completed', dispute: 'disputed' },
  disputed: { approve: 'completed', refund: 'cancelled' },
  completed: {},
  cancelled: {},
}
/** Legal too, with effects on deadlines that belong to the model of orders. */
export const SKIPPED: readonly string[] = ['delivered deliver', 'disputed deliver']

export const minOf = (a: number, b: number): number => (a < b ? a : b)
export const maxOf = (a: number, b: number): number => (a > b ? a : b)
export const dueFor = (budget: bigint): bigint => (budget * 11n + 9n) / 10n
export const posterName = (n: number): string => (n === KEY_POSTER ? 'key owner' : `poster ${n}`)
export const ownerName = (n: number): string => (n === KEY_AGENT ? 'key owner' : `owner ${n}`)

export function at<T>(all: readonly T[], n: number): T {
  const found = all[n]
  if (found === undefined) throw new Error(`there is no ${n}`)
  return found
}
