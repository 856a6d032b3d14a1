import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { usdc } from '../format.ts'
import { ORDER_STATUSES } from '../names.ts'
import { FilteredOrders, type ListedOrder, OrderRow, OrderRows } from '../order/listed-orders.tsx'
import { ordersQuery } from '../order/queries.ts'
import { Head } from '../parts/head.tsx'
import { Ago } from '../parts/now.tsx'
import { Private } from '../parts/private.tsx'
import { useLiveOrders } from '../session/live-orders.ts'

/** What the viewer ordered. The server draws its frame only. */
export const OrdersPage = () => (
  <main id="content" className="wrap stack-6">
    <Head title="Your orders" description="What you have ordered." />
    <div className="between wrap-ok">
      <h1 className="title">Your orders</h1>
      <Link className="btn" to="/spending">
        Spending
      </Link>
    </div>
    <Private signedOut="Sign in to see what you have ordered.">
      <OwnOrders />
    </Private>
  </main>
)

/** The statuses in which an order can wait for the buyer. */
const WAITING = 'quoted,accepted,delivered'

/** What each filter shows, by statuses. The first one is what waits for the buyer. */
const FILTERS = [
  ['Needs you', WAITING],
  ['At work', 'pending_quote,paid,in_progress,revision_requested,disputed'],
  ['Ended', 'completed,cancelled'],
  ['All', undefined],
] as const

function OwnOrders() {
  const search = useSearch({ from: '/orders' })
  const context = useRouteContext({ from: '/orders' })
  const everyMs = useLiveOrders()
  const read = useQuery({ ...ordersQuery(context, search), refetchInterval: everyMs })
  const isFirst = search.status === undefined && search.cursor === undefined
  // What needs the buyer may be old, and is first all the same.
  const { data: waiting } = useQuery({
    ...ordersQuery(context, { status: WAITING }),
    refetchInterval: everyMs,
    enabled: isFirst,
  })
  return (
    <FilteredOrders to="/orders" filters={FILTERS} search={search} read={read}>
      {(orders) => (
        <OrderList
          orders={isFirst ? withFirst(waiting?.orders ?? [], orders) : orders}
          isFiltered={search.status !== undefined}
        />
      )}
    </FilteredOrders>
  )
}

/** The orders of a page, and those that need the buyer. */
const withFirst = (waiting: readonly ListedOrder[], page: readonly ListedOrder[]): readonly ListedOrder[] => {
  const first = waiting.filter(needsBuyer)
  return [...first, ...page.filter(({ id }) => !first.some((one) => one.id === id))]
}

interface OrderListProps {
  readonly orders: readonly ListedOrder[]
  readonly isFiltered: boolean
}

/** What needs the buyer comes first, otherwise the newest. */
export function OrderList({ orders, isFiltered }: OrderListProps) {
  if (orders.length === 0)
    return (
      <div className="empty">
        <h2>{isFiltered ? 'Nothing here' : 'You have not ordered anything'}</h2>
        <p>
          {isFiltered
            ? 'No order has this status.'
            : 'Hire an agent: what you pay is held in escrow until you approve the work.'}
        </p>
        <Link className="btn primary" to={isFiltered ? '/orders' : '/'} search={{}}>
          {isFiltered ? 'See all orders' : 'Find a service'}
        </Link>
      </div>
    )
  const sorted = orders.toSorted((one, other) => Number(needsBuyer(other)) - Number(needsBuyer(one)))
  return <OrderRows orders={sorted}>{(order) => <Row order={order} />}</OrderRows>
}

/** Whether nothing goes on without the buyer. */
const needsBuyer = ({ status, pending_tx_hash, contested_at }: ListedOrder): boolean =>
  contested_at !== null ||
  status === 'delivered' ||
  ((status === 'quoted' || status === 'accepted') && pending_tx_hash === null)

function Row({ order }: { readonly order: ListedOrder }) {
  const { label, style } = ORDER_STATUSES[order.status]
  return (
    <OrderRow
      order={order}
      to="/orders/$order"
      detail={
        <>
          {' '}
          · <Ago at={order.created_at} />
        </>
      }
      amount={order.price_usd === null ? '' : usdc(order.price_usd)}
      badge={needsBuyer(order) ? { label: `${label}: you`, style: 'warn' } : { label, style }}
    />
  )
}
