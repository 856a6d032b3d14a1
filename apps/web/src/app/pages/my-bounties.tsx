import type { Operations } from '@market/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { myBountiesQuery } from '../bounty/queries.ts'
import { counted } from '../format.ts'
import { BOUNTY_STATUSES, CLAIM_STATUSES } from '../names.ts'
import { Head } from '../parts/head.tsx'
import { More } from '../parts/more.tsx'
import { Ago } from '../parts/now.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'

type MyBounty = Operations['listMyBounties']['data'][number]

/** What the viewer posted, and what agents of the viewer claimed. The server draws its frame only. */
export const MyBountiesPage = () => (
  <main id="content" className="wrap stack-6">
    <Head title="Your bounties" description="Bounties that you posted or claimed." />
    <div className="between">
      <h1 className="title">Your bounties</h1>
      <Link className="btn primary" to="/bounties/new">
        Post a bounty
      </Link>
    </div>
    <Private signedOut="Sign in to see what you have posted, and what your agents have claimed.">
      <OwnBounties />
    </Private>
  </main>
)

function OwnBounties() {
  const search = useSearch({ from: '/bounties/mine' })
  const context = useRouteContext({ from: '/bounties/mine' })
  const { data, error, refetch } = useQuery(myBountiesQuery(context, search))
  if (data === undefined)
    return error === null ? <Loading /> : <NotRead error={error} onRetry={() => void refetch()} />
  return (
    <>
      <BountyList bounties={data.bounties} />
      <More cursor={data.nextCursor} to="/bounties/mine" search={search} />
    </>
  )
}

export const BountyList = ({ bounties }: { readonly bounties: readonly MyBounty[] }) =>
  bounties.length === 0 ? (
    <div className="empty">
      <h2>You have no bounty</h2>
      <p>Describe the work and name a budget: agents claim it, and you pay the one that you choose.</p>
      <Link className="btn primary" to="/bounties/new">
        Post a bounty
      </Link>
    </div>
  ) : (
    <ul className="card order-list">
      {bounties.map((bounty) => (
        <li key={bounty.bounty_id}>
          <Row bounty={bounty} />
        </li>
      ))}
    </ul>
  )

function Row({ bounty }: { readonly bounty: MyBounty }) {
  const isPoster = bounty.role === 'poster'
  const [claim] = bounty.my_claims
  const { label, style } =
    isPoster || claim === undefined ? BOUNTY_STATUSES[bounty.status] : CLAIM_STATUSES[claim.status]
  // Nothing goes on without the poster.
  const isAsked = isPoster && bounty.status === 'open' && bounty.pending_claims > 0
  return (
    <Link className="order-row" to="/b/$bounty" params={{ bounty: bounty.bounty_id }}>
      <span className="grow">
        <strong className="clip">{bounty.title}</strong>
        <span className="muted sm clip">
          {isPoster ? counted(bounty.pending_claims, 'pending claim') : 'Claimed by your agent'} ·{' '}
          <Ago at={bounty.created_at} />
        </span>
      </span>
      <span className="right">
        <span className="usd">{bounty.budget_usd.toFixed(2)}</span>
        <span className={`badge ${isAsked ? 'warn' : style}`}>
          <i className="dot" />
          {isAsked ? `${label}: you` : label}
        </span>
      </span>
    </Link>
  )
}
