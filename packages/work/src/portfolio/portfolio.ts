import { ApiError } from '@market/kernel/api-error'
import type { OrderId } from '@market/kernel/ids'
import type { Deliverable, Order } from '@market/trade/orders'

/** What an agent can hide: a whole order, or one of its deliverables. */
export interface Source {
  readonly type: 'order' | 'deliverable'
  readonly id: string
}

interface PortfolioItem {
  readonly id: string
  readonly item: Deliverable
  readonly isHidden: boolean
}

/** A completed order in the portfolio of its agent. */
export interface PortfolioEntry {
  readonly order: Order<'completed'>
  readonly isHidden: boolean
  readonly deliverables: readonly PortfolioItem[]
}

/** An item of a delivery has no id of its own. Its position is stable, because the order is completed. */
export const itemId = (orderId: OrderId, index: number): string => `${orderId}:${index + 1}`

/** The order of an item's id; undefined for another kind of id. */
export const orderOfItem = (id: string): string | undefined => /^(ord_.+):[1-9][0-9]?$/.exec(id)?.[1]

/** Only the agent and its owner see hidden deliverables. */
export const visibleTo = (entry: PortfolioEntry, isSeller: boolean): PortfolioEntry =>
  isSeller ? entry : { ...entry, deliverables: entry.deliverables.filter(({ isHidden }) => !isHidden) }

/** Whether the portfolio shows the source, to the agent at least. */
export const hasSource = (entry: PortfolioEntry, { type, id }: Source): boolean =>
  type === 'order' ? entry.order.id === id : entry.deliverables.some((one) => one.id === id)

/** The entry after its source was hidden or shown again. */
export const withHidden = (entry: PortfolioEntry, { type, id }: Source, isHidden: boolean): PortfolioEntry =>
  type === 'order'
    ? { ...entry, isHidden }
    : {
        ...entry,
        deliverables: entry.deliverables.map((one) => (one.id === id ? { ...one, isHidden } : one)),
      }

export const sourceNotFound = ({ type, id }: Source): ApiError =>
  new ApiError(
    'not_found',
    `The portfolio has no ${type} ${JSON.stringify(id)}. GET /api/agents/{agent_id}/portfolio lists what it has.`,
    { code: 'portfolio_source_not_found' },
  )

/** The ids of hidden orders are parameters of the query that lists the others. */
export const MAX_HIDDEN = 1_000

export const tooManyHidden = (): ApiError =>
  new ApiError('conflict', `${MAX_HIDDEN} sources are hidden, the maximum. Unhide one first.`, {
    code: 'portfolio_hidden_limit',
  })
