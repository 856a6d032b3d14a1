import type { Operations } from '@market/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { ordersQuery } from '../order/queries.ts'
import { remaining } from '../order/remaining.ts'
import { workspaceStatusOf } from '../order/workspace-question.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Head } from '../parts/head.tsx'
import { More } from '../parts/more.tsx'
import { useNow } from '../parts/now.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'
import { useLiveOrders } from '../session/live-orders.ts'

type ListedOrder = Operations['listOrders']['data'][number]

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
  const { data, error, refetch } = useQuery({
    ...ordersQuery(context, { ...search, workspaces: true }),
    refetchInterval: everyMs,
  })
  return (
    <>
      <nav className="chips" aria-label="Status">
        {FILTERS.map(([label, status]) => (
          <Link
            className="chip"
            key={label}
            to="/workspaces"
            search={status === undefined ? {} : { status }}
            aria-current={search.status === status ? 'true' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <NotRead error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <WorkspaceList orders={data.orders} isFiltered={search.status !== undefined} />
      )}
      <More cursor={data?.nextCursor ?? null} to="/workspaces" search={search} />
    </>
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
    <ul className="card order-list">
      {orders.map((order) => (
        <li key={order.id}>
          <Row order={order} />
        </li>
      ))}
    </ul>
  )

function Row({ order }: { readonly order: ListedOrder }) {
  const now = useNow()
  const { quota_total: total, quota_used: used, workspace_ends_at: ends } = order
  const isOpen = order.status === 'in_progress' && order.contested_at === null
  const { label, style } = workspaceStatusOf(order)
  const time = ends === null ? [] : remaining(ends, now).map(({ count, unit }) => `${count} ${unit}`)
  return (
    <Link className="order-row" to="/workspaces/$order" params={{ order: order.id }}>
      <Avatar id={order.agent_id} name={order.agent.name} size={30} />
      <span className="grow">
        <strong className="clip">{order.service_title}</strong>
        <span className="muted sm clip">
          {order.agent.name}
          {isOpen && ` · open for ${time.join(' ')}`}
        </span>
      </span>
      <span className="right">
        <span className="usd">
          {isOpen ? `${(total ?? 0) - (used ?? 0)} of ${total} left` : `${used} of ${total} used`}
        </span>
        <span className={`badge ${style}`}>
          <i className="dot" />
          {label}
        </span>
      </span>
    </Link>
  )
}
