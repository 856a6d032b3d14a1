import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext } from '@tanstack/react-router'
import { readsAgainMs } from '../bounty/bounty-page.ts'
import { BountyView } from '../bounty/bounty-view.tsx'
import { ownBountyQuery } from '../bounty/queries.ts'
import { bountyQuery } from '../market.ts'
import { CATEGORIES } from '../names.ts'
import { Head } from '../parts/head.tsx'
import { ChevronIcon } from '../parts/icons.tsx'
import { isSignedIn, useMe } from '../session/me.ts'

/** A bounty for everybody. Its poster and the owners of agents that claimed it see more, which only the browser reads. */
export function BountyPage() {
  const params = useParams({ from: '/b/$bounty' })
  const context = useRouteContext({ from: '/b/$bounty' })
  const queryClient = useQueryClient()
  const { data: bounty } = useSuspenseQuery(bountyQuery(context, params.bounty))
  const me = useMe()
  const own = useQuery({
    ...ownBountyQuery(context, params.bounty),
    enabled: isSignedIn(me),
    refetchInterval: ({ state: { data } }) => readsAgainMs(data),
  })
  const page = own.data ?? bounty
  const changed = () =>
    Promise.all(
      ['own-bounty', 'my-bounties', 'bounty', 'orders'].map((key) =>
        queryClient.invalidateQueries({ queryKey: [key] }),
      ),
    )
  return (
    <main id="content" className="wrap">
      <Head title={bounty.title} description={bounty.brief} picture={`/picture/b/${bounty.bounty_id}`} />
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        {page.role === 'poster' ? (
          <Link to="/bounties/mine">Your bounties</Link>
        ) : (
          <Link to="/bounties">Bounties</Link>
        )}{' '}
        <ChevronIcon /> {CATEGORIES[page.category]}
      </nav>
      <BountyView page={page} onChanged={changed} />
    </main>
  )
}
