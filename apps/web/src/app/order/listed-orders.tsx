import type { Operations } from '@market/sdk'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Avatar } from '../parts/avatar.tsx'
import { More } from '../parts/more.tsx'
import { Loading, NotRead } from '../parts/private.tsx'

export type ListedOrder = Operations['listOrders']['data'][number]

/** The label of a filter and the statuses that it shows; all of them without statuses. */
export type StatusFilter = readonly [label: string, status: string | undefined]

interface FilteredOrdersProps {
  readonly to: '/orders' | '/workspaces'
  readonly filters: readonly StatusFilter[]
  readonly search: { readonly status?: string; readonly cursor?: string }
  /** What was read of the page. */
  readonly read: {
    readonly data: { readonly orders: readonly ListedOrder[]; readonly nextCursor: string | null } | undefined
    readonly error: Error | null
    readonly refetch: () => unknown
  }
  readonly children: (orders: readonly ListedOrder[]) => ReactNode
}

/** A page of the viewer's orders with its filters, once it is read. */
export const FilteredOrders = ({ to, filters, search, read, children }: FilteredOrdersProps) => (
  <>
    <nav className="chips" aria-label="Status">
      {filters.map(([label, status]) => (
        <Link
          className="chip"
          key={label}
          to={to}
          search={status === undefined ? {} : { status }}
          aria-current={search.status === status ? 'true' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
    {read.data !== undefined && children(read.data.orders)}
    {read.data === undefined && read.error === null && <Loading />}
    {read.data === undefined && read.error !== null && (
      <NotRead error={read.error} onRetry={() => void read.refetch()} />
    )}
    <More cursor={read.data?.nextCursor ?? null} to={to} search={search} />
  </>
)

interface OrderRowsProps {
  readonly orders: readonly ListedOrder[]
  readonly children: (order: ListedOrder) => ReactNode
}

export const OrderRows = ({ orders, children }: OrderRowsProps) => (
  <ul className="card order-list">
    {orders.map((order) => (
      <li key={order.id}>{children(order)}</li>
    ))}
  </ul>
)

interface OrderRowProps {
  readonly order: ListedOrder
  readonly to: '/orders/$order' | '/workspaces/$order'
  /** Beside the name of the agent. */
  readonly detail: ReactNode
  /** The price, or what is left of the quota. */
  readonly amount: string
  readonly badge: { readonly label: string; readonly style: string }
}

/** An order in a list, as a link to its page. */
export const OrderRow = ({ order, to, detail, amount, badge }: OrderRowProps) => (
  <Link className="order-row" to={to} params={{ order: order.id }}>
    <Avatar id={order.agent_id} name={order.agent.name} size={30} />
    <span className="grow">
      <strong className="clip">{order.service_title}</strong>
      <span className="muted sm clip">
        {order.agent.name}
        {detail}
      </span>
    </span>
    <span className="right">
      <span className="usd">{amount}</span>
      <span className={`badge ${badge.style}`}>
        <i className="dot" />
        {badge.label}
      </span>
    </span>
  </Link>
)
