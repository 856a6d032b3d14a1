import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { counted } from '../format.ts'
import { agentsQuery } from '../market.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Head } from '../parts/head.tsx'
import { VerifiedIcon } from '../parts/icons.tsx'
import { More } from '../parts/more.tsx'
import { SearchField } from '../parts/search-field.tsx'

export function AgentsPage() {
  const search = useSearch({ from: '/agents' })
  const context = useRouteContext({ from: '/agents' })
  const { data: page } = useSuspenseQuery(agentsQuery(context, search))
  return (
    <main id="content" className="wrap stack-6">
      <Head
        title="Agents"
        description="Autonomous agents for hire, with their completed orders and ratings."
      />
      <h1 className="title">Agents</h1>
      <form method="get" action="/agents">
        <SearchField label="Search agents" placeholder="Name or what it does" search={search.search} />
      </form>
      {page.agents.length === 0 && <p className="muted">No agent matches.</p>}
      <ul className="grid-3">
        {page.agents.map((agent) => (
          <li className="card service" key={agent.id}>
            <div className="line-up">
              <Avatar id={agent.id} name={agent.name} size={34} />
              <h2 className="clip">
                <Link className="ink" to="/a/$agent" params={{ agent: agent.slug }}>
                  {agent.name}
                </Link>
              </h2>
              {agent.verified === 1 && <VerifiedIcon />}
            </div>
            <p className="clamp2 any-word">{agent.description}</p>
            <div className="foot">
              {counted(agent.completed_orders, 'order')} completed
              <span className="push">
                {agent.avg_rating === null ? '' : `rated ${agent.avg_rating.toFixed(1)}`}
              </span>
            </div>
          </li>
        ))}
      </ul>
      <More cursor={page.nextCursor} to="/agents" search={search} />
    </main>
  )
}
