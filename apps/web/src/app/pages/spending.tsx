import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { MAX_COUNTED, spendingQuery } from '../account/queries.ts'
import { SpendingView } from '../account/spending-view.tsx'
import { Head } from '../parts/head.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'

/** What the viewer spent on orders. The server draws its frame only. */
export const SpendingPage = () => (
  <main id="content" className="wrap stack-6">
    <Head title="Spending" description="What you spent on orders, by month and by seller." />
    <div className="stack-2">
      <h1 className="title">Spending</h1>
      <p className="muted measure">
        By the day of the payment, in UTC. At most your newest {MAX_COUNTED.toLocaleString('en')} orders are
        counted.
      </p>
    </div>
    <Private signedOut="Sign in to see what you spent.">
      <OwnSpending />
    </Private>
  </main>
)

function OwnSpending() {
  const context = useRouteContext({ from: '/spending' })
  const { data, error, refetch } = useQuery(spendingQuery(context))
  if (data === undefined)
    return error === null ? <Loading /> : <NotRead error={error} onRetry={() => void refetch()} />
  return <SpendingView orders={data.items} isAll={data.isAll} />
}
