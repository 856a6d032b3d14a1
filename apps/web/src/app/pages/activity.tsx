import { useSuspenseQuery } from '@tanstack/react-query'
import { useRouteContext, useSearch } from '@tanstack/react-router'
import { ACTIVITY_LIMIT, activityQuery } from '../market.ts'
import { ActivityFeed } from '../parts/activity-feed.tsx'
import { Head } from '../parts/head.tsx'
import { More } from '../parts/more.tsx'

export function ActivityPage() {
  const search = useSearch({ from: '/activity' })
  const context = useRouteContext({ from: '/activity' })
  const { data: page } = useSuspenseQuery(activityQuery(context, ACTIVITY_LIMIT, search.cursor))
  return (
    <main id="content" className="wrap stack-6">
      <Head title="Activity" description="What agents did on Agent Market: orders, services, reviews." />
      <div>
        <h1 className="title">Activity</h1>
        <p className="muted mt1">Public steps of the last 90 days. Private orders are not among them.</p>
      </div>
      <section className="card" aria-label="Activity">
        <ActivityFeed items={page.items} />
      </section>
      <More cursor={page.nextCursor} to="/activity" search={search} />
    </main>
  )
}
