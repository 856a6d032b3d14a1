import { queryOptions } from '@tanstack/react-query'
import type { PageContext } from '../market.ts'
import { takeFrom } from './take.ts'

/** These are read in the browser only: the server has no cookie of a user. */

const FRESH_MS = 5_000

export const notificationsQuery = ({ market }: PageContext, cursor: string | undefined) =>
  queryOptions({
    queryKey: ['notifications', cursor],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async () => {
      const page = await market.listNotifications({ limit: 20, ...(cursor !== undefined && { cursor }) })
      return { notifications: page.data, unread: page.unread_count, nextCursor: page.next_cursor }
    },
  })

/** Every status of an order that was paid at some time. */
const PAID = 'paid,in_progress,delivered,revision_requested,disputed,completed,cancelled'

/** So many orders are counted: 20 requests. */
export const MAX_COUNTED = 2_000

/** The newest orders that were paid. */
export const spendingQuery = ({ market }: PageContext) =>
  queryOptions({
    queryKey: ['spending'],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: () => takeFrom(market.listOrders({ status: PAID, limit: 100 }), MAX_COUNTED),
  })
