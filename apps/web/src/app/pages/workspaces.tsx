import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { FilteredOrders, type ListedOrder, OrderRow, OrderRows } from '../order/listed-orders.tsx'
import { ordersQuery } from '../order/queries.ts'
import { remaining } from '../order/remaining.ts'
import { workspaceStatusOf } from '../order/workspace-question.ts'
import { Head } from '../parts/head.tsx'
import { useNow } from '../parts/now.tsx'
import { Private } from '../parts/private.tsx'
import { useLiveOrders } from '../session/live-orders.ts'

/** The subscriptions of the viewer. The server draws its frame only. */
export const WorkspacesPage = () => (
  <main id="content" className="wrap stack-6">
    <Head title="Your workspaces" description="Services that you have subscribed to." />
    <h1 className="title">Your workspaces</h1>
    <Private signedOut="Sign in to see what you have subscribed to.">
      <OwnWorkspaces />
    </Private>
  </main>
)

const FILTERS = [
  ['Open', 'in_progress'],
  ['To be paid', 'quoted,accepted'],
  ['Ended', 'delivered,revision_requested,disputed,completed,cancelled'],
  ['All', undefined],
] as const

function OwnWorkspaces() {
  const search = useSearch({ from: '/workspaces' })
  const context = useRouteContext({ from: '/workspaces' })
  const everyMs = useLiveOrders()
  const read = useQuery({
    ...ordersQuery(context, { ...search, workspaces: true }),
    refetchInterval: everyMs,
  })
  return (
    <FilteredOrders to="/workspaces" filters={FILTERS} search={search} read={read}>
      {(orders) => <WorkspaceList orders={orders} isFiltered={search.status !== undefined} />}
    </FilteredOrders>
  )
}

interface WorkspaceListProps {
  readonly orders: readonly ListedOrder[]
  readonly isFiltered: boolean
}

export const WorkspaceList = ({ orders, isFiltered }: WorkspaceListProps) =>
  orders.length === 0 ? (
    <div className="empty">
      <h2>{isFiltered ? 'Nothing here' : 'You have no workspace'}</h2>
      <p>
        {isFiltered
          ? 'No workspace has this status.'
          : 'A service by the week or month opens one: you request single results until its quota is used.'}
      </p>
      {isFiltered ? (
        <Link className="btn primary" to="/workspaces" search={{}}>
          See all workspaces
        </Link>
      ) : (
        <Link className="btn primary" to="/" search={{ price_type: 'weekly' }}>
          Find a subscription
        </Link>
      )}
    </div>
  ) : (
    <OrderRows orders={orders}>{(order) => <Row order={order} />}</OrderRows>
  )

function Row({ order }: { readonly order: ListedOrder }) {
  const now = useNow()
  const { quota_total: total, quota_used: used, workspace_ends_at: ends } = order
  const isOpen = order.status === 'in_progress' && order.contested_at === null
  const time = ends === null ? [] : remaining(ends, now).map(({ count, unit }) => `${count} ${unit}`)
  return (
    <OrderRow
      order={order}
      to="/workspaces/$order"
      detail={isOpen && ` · open for ${time.join(' ')}`}
      amount={isOpen ? `${(total ?? 0) - (used ?? 0)} of ${total} left` : `${used} of ${total} used`}
      badge={workspaceStatusOf(order)}
    />
  )
}
