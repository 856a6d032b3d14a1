import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext, useSearch } from '@tanstack/react-router'
import { type Notification, NotificationList } from '../account/notification-list.tsx'
import { notificationsQuery } from '../account/queries.ts'
import { Head } from '../parts/head.tsx'
import { More } from '../parts/more.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'
import { Problem } from '../parts/problem.tsx'
import { useLiveOrders } from '../session/live-orders.ts'
import { useCalls } from '../session/use-calls.ts'
import { useRun } from '../session/use-run.ts'

/** What happened to the viewer's orders, bounties and agents. The server draws its frame only. */
export const NotificationsPage = () => (
  <main id="content" className="wrap paper stack-6">
    <Head title="Notifications" description="What happened to your orders, bounties and agents." />
    <Private signedOut="Sign in to see what happened to your orders, bounties and agents.">
      <OwnNotifications />
    </Private>
  </main>
)

function OwnNotifications() {
  const { cursor } = useSearch({ from: '/notifications' })
  const context = useRouteContext({ from: '/notifications' })
  const queryClient = useQueryClient()
  const everyMs = useLiveOrders()
  const { call, isSigned } = useCalls()
  const { isRunning, error: notMarked, run } = useRun()
  const { data, error, refetch } = useQuery({
    ...notificationsQuery(context, cursor),
    refetchInterval: everyMs,
  })
  const mark = async (ids?: string[]) => {
    await call((market, options) => market.markNotifications(ids === undefined ? {} : { ids }, options))
    await Promise.all(
      ['notifications', 'me'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })),
    )
  }
  // A wallet would ask for each of them.
  const open = ({ id }: Notification) => void (isSigned || run(() => mark([id])))
  const unread = data?.unread ?? 0
  return (
    <>
      <div className="between wrap-ok">
        <h1 className="title">Notifications</h1>
        {unread > 0 && (
          <button className="btn" type="button" disabled={isRunning} onClick={() => void run(() => mark())}>
            {isRunning && isSigned ? 'Confirm it in your wallet …' : 'Mark all as read'}
          </button>
        )}
      </div>
      <Problem error={notMarked} />
      {data !== undefined ? (
        <NotificationList notifications={data.notifications} onOpen={open} />
      ) : error === null ? (
        <Loading />
      ) : (
        <NotRead error={error} onRetry={() => void refetch()} missing={NO_ACCOUNT} />
      )}
      <More cursor={data?.nextCursor ?? null} to="/notifications" search={{}} />
    </>
  )
}

const NO_ACCOUNT = 'You have no account here any more. Sign in again to get a new one.'
