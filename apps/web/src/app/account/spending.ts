import type { Operations } from '@market/sdk'
import { amountOf, micros } from '../money.ts'
import { csvOf } from './csv.ts'

export type ListedOrder = Operations['listOrders']['data'][number]

/** Where the price of a paid order is: `paid` = `spent` + `escrow` + `refunded`, in millionths of a USDC. */
export interface Spent {
  readonly paid: bigint
  /** Went to the agent and to the fee. */
  readonly spent: bigint
  readonly escrow: bigint
  readonly refunded: bigint
}

export interface SpendingRow extends Spent {
  readonly key: string
  readonly orders: readonly ListedOrder[]
}

/** Undefined for an order that was not paid. */
function spentOn({ price_usd, agent_usd, fee_usd, paid_at, outcome }: ListedOrder): Spent | undefined {
  if (price_usd === null || paid_at === null || outcome === 'unpaid') return undefined
  const paid = micros(price_usd)
  if (outcome === null) return { paid, spent: 0n, escrow: paid, refunded: 0n }
  const kept = outcome === 'split' ? micros(agent_usd ?? '0') + micros(fee_usd ?? '0') : paid
  const spent = outcome === 'refunded' ? 0n : kept
  return { paid, spent, escrow: 0n, refunded: paid - spent }
}

const NOTHING: Spent = { paid: 0n, spent: 0n, escrow: 0n, refunded: 0n }

/** The sums of all paid orders. */
export const totalOf = (orders: readonly ListedOrder[]): Spent =>
  orders.reduce((sum, order) => {
    const { paid, spent, escrow, refunded } = spentOn(order) ?? NOTHING
    return {
      paid: sum.paid + paid,
      spent: sum.spent + spent,
      escrow: sum.escrow + escrow,
      refunded: sum.refunded + refunded,
    }
  }, NOTHING)

const paidOf = (orders: readonly ListedOrder[]): ListedOrder[] =>
  orders.filter((order) => spentOn(order) !== undefined)

function rowsBy(
  orders: readonly ListedOrder[],
  keyOf: (order: ListedOrder) => string,
): readonly SpendingRow[] {
  const groups = Map.groupBy(paidOf(orders), keyOf)
  return [...groups].map(([key, group]) => ({ key, orders: group, ...totalOf(group) }))
}

/** The month of the payment in UTC, as "2026-11". */
const monthOf = ({ paid_at: at }: ListedOrder): string => at?.slice(0, 7) ?? ''

/** The newest month first. */
export const spendingByMonth = (orders: readonly ListedOrder[]): readonly SpendingRow[] =>
  rowsBy(orders, monthOf).toSorted((one, other) => (one.key < other.key ? 1 : -1))

/** The seller who was paid most first. */
export const spendingBySeller = (orders: readonly ListedOrder[]): readonly SpendingRow[] =>
  rowsBy(orders, (order) => order.agent_id).toSorted((one, other) => (one.paid < other.paid ? 1 : -1))

const COLUMNS = [
  ...['month', 'paid_at', 'order', 'service', 'seller', 'seller_id', 'status', 'outcome'],
  ...['paid_usd', 'spent_usd', 'escrow_usd', 'refunded_usd', 'network', 'transaction'],
]

/** One row for each paid order. */
export const spendingCsv = (orders: readonly ListedOrder[]): string =>
  csvOf([
    COLUMNS,
    ...paidOf(orders).map((order) => {
      const { paid, spent, escrow, refunded } = spentOn(order) ?? NOTHING
      return [
        ...[monthOf(order), order.paid_at ?? '', order.id, order.service_title, order.agent.name],
        ...[order.agent_id, order.status, order.outcome ?? ''],
        ...[paid, spent, escrow, refunded].map(amountOf),
        ...[order.payment_network ?? '', order.escrow_tx_hash ?? ''],
      ]
    }),
  ])
