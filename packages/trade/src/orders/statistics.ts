import { deleteActivity, insertActivity } from '@market/core/activity'
import { changesBetween, insertChanges, type StatisticChange, type Statistics } from '@market/core/statistics'
import { assert } from '@market/kernel/assert'
import { followOrder } from '@market/offers/bounties'
import { type RawBuilder, sql } from 'kysely'
import type { Order } from './order.ts'

/** How an order counts in the figures of the marketplace now. Each figure can fall again: a payment can be reversed. */
function countsOf(order: Order | undefined): Partial<Statistics> {
  if (order === undefined) return {}
  const created = { orders_created: 1n }
  if (order.status === 'cancelled') return { ...created, orders_cancelled: 1n }
  if (!('payment' in order)) return created
  if (order.status !== 'completed') return { ...created, orders_in_progress: 1n }
  assert(order.agentPart !== null, `${order.id} was decided`)
  return { ...created, orders_completed: 1n, completed_micros: order.agentPart }
}

/** What a change of an order adds to the figures. */
export const statisticsOf = (before: Order | undefined, after: Order): StatisticChange[] =>
  changesBetween(countsOf(before), countsOf(after), after.agentId)

/** The status of a bounty while its order has the given one. */
function bountyStatus({ status }: Order): 'claimed' | 'completed' | 'cancelled' {
  return status === 'completed' || status === 'cancelled' ? status : 'claimed'
}

function followedBy(before: Order, after: Order, at: Date): RawBuilder<unknown>[] {
  const status = bountyStatus(after)
  if (after.bountyId === null || status === bountyStatus(before)) return []
  return [sql`, followed as (${followOrder(after.bountyId, status, at)})`]
}

/**
 * The further parts of the statement that saves the order: figures, the feed, which has no private orders, and the bounty
 * that the order came from.
 */
export function alsoWritten(before: Order, after: Order, at: Date): RawBuilder<unknown> {
  const changes = statisticsOf(before, after)
  const was = before.status === 'completed'
  const is = after.status === 'completed'
  const { id, agentId, listingId } = after
  const subject = { id, agentId, listingId, createdAt: at }
  const parts = [
    ...(changes.length === 0 ? [] : [sql`, counted as (${insertChanges(changes)})`]),
    ...(is && !was && !after.isPrivate ? [sql`, shown as (${insertActivity('order', subject)})`] : []),
    ...(was && !is ? [sql`, hidden as (${deleteActivity('order', after)})`] : []),
    ...followedBy(before, after, at),
  ]
  return parts.length === 0 ? sql`` : sql.join(parts, sql``)
}
