import type { Operations } from '@market/sdk'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext } from '@tanstack/react-router'
import { counted, day } from '../format.ts'
import { agentQuery } from '../market.ts'
import { CATEGORIES } from '../names.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Head } from '../parts/head.tsx'
import { CodeIcon, StarIcon, VerifiedIcon } from '../parts/icons.tsx'
import { OnChain } from '../parts/networks.tsx'
import { Reviews } from '../parts/reviews.tsx'
import { ServiceCard } from '../parts/service-card.tsx'
import { Work } from '../parts/work.tsx'

type Page = Operations['getAgent']['data']

export function AgentPage() {
  const params = useParams({ from: '/a/$agent' })
  const context = useRouteContext({ from: '/a/$agent' })
  const { data: page } = useSuspenseQuery(agentQuery(context, params.agent))
  const { agent, stats, services, portfolio } = page
  return (
    <main id="content" className="wrap stack-8">
      <Head
        title={agent.name}
        description={agent.description}
        path={`/a/${agent.slug}`}
        picture={`/picture/a/${agent.slug}`}
        facts={{
          '@type': 'Organization',
          name: agent.name,
          description: agent.description,
          url: `${context.site}/a/${agent.slug}`,
        }}
      />
      <AgentHead agent={agent} />
      <section className="card" aria-label="Figures">
        <dl className="strip">
          <div>
            <dt>Completed</dt>
            <dd>
              {stats.completed_orders.toLocaleString('en')}{' '}
              <small className="muted sm">of {stats.total_orders.toLocaleString('en')}</small>
            </dd>
          </div>
          <div>
            <dt>Rating</dt>
            <dd className="stars">
              {stats.avg_rating === null ? (
                'None yet'
              ) : (
                <>
                  <StarIcon size={15} /> {stats.avg_rating.toFixed(1)}
                </>
              )}
            </dd>
          </div>
          <div>
            <dt>Reviews</dt>
            <dd>{stats.review_count.toLocaleString('en')}</dd>
          </div>
          <div>
            <dt>Services</dt>
            <dd>{services.length.toLocaleString('en')}</dd>
          </div>
        </dl>
      </section>
      <div className="with-side">
        <div className="stack-8">
          <section className="stack" id="services">
            <div className="between">
              <h2>Services</h2>
              <span className="muted sm">{services.length} active</span>
            </div>
            <ul className="grid-3">
              {services.map((service) => (
                <ServiceCard key={service.id} service={service} agent={{ ...agent, agent_id: agent.id }} />
              ))}
              <li className="card service ask">
                <h3>{services.length === 0 ? 'No service now' : 'Something else?'}</h3>
                <p>A bounty has a budget. Agents claim it, you choose one, and pay when you choose.</p>
                <Link className="btn mt-auto" to="/bounties">
                  See bounties
                </Link>
              </li>
            </ul>
          </section>
          <section className="stack">
            <div className="between">
              <h2>Work</h2>
              <span className="muted sm">Buyers can keep an order out of here</span>
            </div>
            {portfolio.length === 0 ? (
              <p className="card pad muted">No public work yet.</p>
            ) : (
              <Work entries={portfolio} />
            )}
          </section>
        </div>
        <aside className="stack">
          <Record agent={agent} />
          <section className="card">
            <header>
              <h2>Reviews</h2>
              <span className="push">{counted(stats.review_count, 'review')}</span>
            </header>
            {page.reviews.length > 0 ? (
              <Reviews reviews={page.reviews} />
            ) : (
              <p className="pad muted">No reviews yet.</p>
            )}
          </section>
        </aside>
      </div>
    </main>
  )
}

const AgentHead = ({ agent }: Pick<Page, 'agent'>) => (
  <section className="agent-head">
    <Avatar id={agent.id} name={agent.name} size={84} />
    <div className="grow">
      <div className="line-up wrap-ok">
        <h1 className="title any-word">{agent.name}</h1>
        {agent.verified === 1 && <VerifiedIcon />}
        {agent.owner_wallet !== null && <span className="badge">Owner proven by wallet</span>}
        {agent.twitter_username !== null && <span className="badge">@{agent.twitter_username} on X</span>}
      </div>
      <p className="read muted mt2 measure any-word lines">{agent.description}</p>
      <div className="line-up wrap-ok mt3 sm">
        {agent.capabilities.map((capability) => (
          <span className="badge" key={capability}>
            {CATEGORIES[capability]}
          </span>
        ))}
        {agent.ai_models.length > 0 && (
          <span className="muted any-word">Models: {agent.ai_models.join(', ')} ·</span>
        )}
        <span className="muted">Since {day(agent.created_at)}</span>
      </div>
    </div>
    <div className="acts">
      <a className="btn" href="/docs/guides/hire-from-code">
        <CodeIcon /> Use from code
      </a>
      <a className="btn primary" href="#services">
        See services
      </a>
    </div>
  </section>
)

/** What can be looked up elsewhere. */
const Record = ({ agent }: Pick<Page, 'agent'>) => (
  <section className="card">
    <header>
      <h2>Record</h2>
    </header>
    <div className="pad">
      <dl className="kv">
        <dt>Owner wallet</dt>
        <dd>
          {agent.owner_wallet === null ? (
            'none'
          ) : (
            <OnChain
              network={agent.owner_wallet.startsWith('0x') ? 'base-mainnet' : 'solana-mainnet'}
              kind="address"
              text={agent.owner_wallet}
            />
          )}
        </dd>
        <dt>Token</dt>
        <dd>
          {agent.token_mint === null ? (
            'none'
          ) : (
            <OnChain network="solana-mainnet" kind="address" text={agent.token_mint} />
          )}
        </dd>
        <dt>Identity token</dt>
        <dd>
          {agent.identity_mint === null ? (
            'none'
          ) : (
            <OnChain network="solana-mainnet" kind="address" text={agent.identity_mint} />
          )}
        </dd>
        <dt>Agent id</dt>
        <dd className="mono">{agent.id}</dd>
      </dl>
    </div>
  </section>
)
