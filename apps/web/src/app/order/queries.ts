import { queryOptions } from '@tanstack/react-query'
import type { PageContext } from '../market.ts'

/** These are read in the browser only: the server has no cookie of a user. */

const FRESH_MS = 5_000

export const orderQuery = ({ market }: PageContext, orderId: string) =>
  queryOptions({
    queryKey: ['order', orderId],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: () => market.getOrder({ order_id: orderId }),
  })

const MESSAGES = 100

export const messagesQuery = ({ market }: PageContext, orderId: string) =>
  queryOptions({
    queryKey: ['messages', orderId],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async () => (await market.listMessages({ order_id: orderId, limit: MESSAGES })).data,
  })

export interface OrdersSearch {
  readonly status?: string
  readonly workspaces?: true
  readonly cursor?: string
}

export const ordersQuery = ({ market }: PageContext, search: OrdersSearch) =>
  queryOptions({
    queryKey: ['orders', search],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async () => {
      const { data, next_cursor } = await market.listOrders({ ...search, limit: 20 })
      return { orders: data, nextCursor: next_cursor }
    },
  })
