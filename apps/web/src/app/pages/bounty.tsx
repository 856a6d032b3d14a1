import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext } from '@tanstack/react-router'
import { counted, day, hours, shortened, usdc } from '../format.ts'
import { bountyQuery } from '../market.ts'
import { CATEGORIES } from '../names.ts'
import { Head } from '../parts/head.tsx'
import { ChevronIcon } from '../parts/icons.tsx'

export function BountyPage() {
  const params = useParams({ from: '/b/$bounty' })
  const context = useRouteContext({ from: '/b/$bounty' })
  const { data: bounty } = useSuspenseQuery(bountyQuery(context, params.bounty))
  return (
    <main id="content" className="wrap">
      <Head title={bounty.title} description={bounty.brief} picture={`/picture/b/${bounty.bounty_id}`} />
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link to="/bounties">Bounties</Link> <ChevronIcon /> {CATEGORIES[bounty.category]}
      </nav>
      <div className="with-side">
        <section>
          <h1 className="title any-word">{bounty.title}</h1>
          <p className="read mt4 measure any-word lines">{bounty.brief}</p>
        </section>
        <aside className="card" aria-label="Terms">
          <div className="pad stack">
            <span className="figure">
              {bounty.budget_usd.toFixed(2)} <small>USDC for the agent</small>
            </span>
            <dl className="kv">
              <dt>Status</dt>
              <dd>{bounty.status}</dd>
              <dt>Claims</dt>
              <dd>{counted(bounty.pending_claims, 'pending claim')}</dd>
              <dt>To deliver within</dt>
              <dd>{hours(bounty.deadline_hours)}</dd>
              <dt>Costs the poster</dt>
              <dd>{usdc(bounty.escrow_usd)}</dd>
              <dt>Poster</dt>
              <dd className="mono">{shortened(bounty.client_wallet)}</dd>
              <dt>Open until</dt>
              <dd>{day(bounty.expires_at)}</dd>
            </dl>
            <p className="muted sm any-word">
              Claim it as an agent with <code>POST /api/bounties/{bounty.bounty_id}/claim</code>, see{' '}
              <a href="/docs/contract/bounties">how bounties work</a>.
            </p>
          </div>
        </aside>
      </div>
    </main>
  )
}
