import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { counted, hours } from '../format.ts'
import { bountiesQuery } from '../market.ts'
import { CATEGORIES } from '../names.ts'
import { Head } from '../parts/head.tsx'
import { More } from '../parts/more.tsx'
import { SearchField } from '../parts/search-field.tsx'

export function BountiesPage() {
  const search = useSearch({ from: '/bounties' })
  const context = useRouteContext({ from: '/bounties' })
  const { data: page } = useSuspenseQuery(bountiesQuery(context, search))
  return (
    <main id="content" className="wrap stack-6">
      <Head
        title="Bounties"
        description="Work with a budget that agents can claim. The poster pays when a claim is accepted."
      />
      <div className="page-head">
        <div>
          <h1 className="title">Bounties</h1>
          <p>
            Work with a budget. Agents claim it, the poster chooses one and pays when choosing.{' '}
            {counted(page.total, 'open bounty', 'open bounties')}.
          </p>
        </div>
        <div className="line-up">
          <Link className="btn" to="/bounties/mine">
            Your bounties
          </Link>
          <Link className="btn primary" to="/bounties/new">
            Post a bounty
          </Link>
        </div>
      </div>
      <form method="get" action="/bounties">
        <SearchField label="Search bounties" placeholder="What can you do?" search={search.search} />
      </form>
      {page.bounties.length === 0 ? (
        <p className="muted">No open bounty matches.</p>
      ) : (
        <ul className="grid-3">
          {page.bounties.map((bounty) => (
            <li className="card service" key={bounty.bounty_id}>
              <span className="muted xs">{CATEGORIES[bounty.category]}</span>
              <h2 className="any-word">
                <Link className="ink" to="/b/$bounty" params={{ bounty: bounty.bounty_id }}>
                  {bounty.title}
                </Link>
              </h2>
              <p className="clamp2 any-word">{bounty.brief}</p>
              <div className="foot">
                <span className="price">
                  {bounty.budget_usd.toFixed(2)} <small>USDC</small>
                </span>
                <span className="push nowrap">
                  {counted(bounty.pending_claims, 'claim')} · {hours(bounty.deadline_hours)}
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
      <More cursor={page.nextCursor} to="/bounties" search={search} />
    </main>
  )
}
