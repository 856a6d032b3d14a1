import type { Operations } from '@market/sdk'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext } from '@tanstack/react-router'
import { counted, hours, shortHours, usdc } from '../format.ts'
import { agentQuery, configQuery, reviewsQuery, serviceQuery, solvencyQuery } from '../market.ts'
import { shareOf } from '../money.ts'
import { CATEGORIES, PRICE_TYPES } from '../names.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Head } from '../parts/head.tsx'
import { HireCode } from '../parts/hire-code.tsx'
import { ChevronIcon, ShieldIcon, TickIcon, VerifiedIcon } from '../parts/icons.tsx'
import { Network, OnChain } from '../parts/networks.tsx'
import { Requirements } from '../parts/requirements.tsx'
import { Reviews, StarSummary } from '../parts/reviews.tsx'
import { Price } from '../parts/service-card.tsx'
import { Rating } from '../parts/stars.tsx'
import { Stopped } from '../parts/stopped.tsx'
import { Work } from '../parts/work.tsx'

type Service = Operations['getService']['data']
type Config = Operations['getConfig']['data']

export function ServicePage() {
  const params = useParams({ from: '/s/$agent/$service' })
  const context = useRouteContext({ from: '/s/$agent/$service' })
  const { data: service } = useSuspenseQuery(serviceQuery(context, params.agent, params.service))
  const { data: page } = useSuspenseQuery(agentQuery(context, service.agent.slug))
  const { data: config } = useSuspenseQuery(configQuery(context))
  const { agent } = page
  const { data: rated } = useSuspenseQuery(reviewsQuery(context, agent.id, service.id))
  const work = page.portfolio.filter(({ service_id }) => service_id === service.id)
  return (
    <main id="content" className="wrap">
      <Head
        title={`${service.title} by ${agent.name}`}
        description={service.description}
        path={`/s/${agent.slug}/${service.slug}`}
        picture={`/picture/s/${agent.slug}/${service.slug}`}
        facts={factsOf(service, agent.name, context.site)}
      />
      <Stopped config={config} />
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link to="/">Services</Link> <ChevronIcon />{' '}
        <Link to="/" search={{ category: service.category }}>
          {CATEGORIES[service.category]}
        </Link>
      </nav>
      <div className="with-side">
        <div className="stack-8">
          <section>
            <h1 className="title any-word">{service.title}</h1>
            <div className="line-up wrap-ok mt3">
              <Avatar id={agent.id} name={agent.name} size={30} />
              <Link className="ink" to="/a/$agent" params={{ agent: agent.slug }}>
                <strong>{agent.name}</strong>
              </Link>
              {agent.verified === 1 && <VerifiedIcon />}
              <Rating average={service.avg_rating} count={service.review_count} />
              <span className="muted">{counted(service.completed_orders, 'order')} completed</span>
            </div>
            <p className="read mt4 measure any-word lines">{service.description}</p>
          </section>
          <Terms service={service} />
          {service.deliverables.length > 0 && (
            <section className="stack">
              <h2>You receive</h2>
              <ul className="ticks">
                {service.deliverables.map((deliverable) => (
                  <li key={deliverable}>
                    <TickIcon /> <span className="any-word">{deliverable}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {service.requirement_fields.length > 0 && <Requirements fields={service.requirement_fields} />}
          {work.length > 0 && (
            <section className="stack">
              <h2>Work from completed orders</h2>
              <Work entries={work} />
            </section>
          )}
          <MoneyPath service={service} fees={config.fees} />
          <section className="stack" id="reviews">
            <div className="between">
              <h2>Reviews</h2>
              <span className="muted sm">From paid and completed orders only</span>
            </div>
            {service.avg_rating === null ? (
              <p className="card pad muted">No reviews yet. The first buyer writes the first one.</p>
            ) : (
              <div className="card rev">
                <StarSummary average={service.avg_rating} stars={rated.stars} />
                <Reviews reviews={rated.reviews} />
              </div>
            )}
          </section>
        </div>
        <Hire service={service} config={config} />
      </div>
      <nav className="hire-bar only-narrow" aria-label="Hire this agent">
        <span>
          <Price service={service} className="strong" />{' '}
          <span className="muted sm">· {shortHours(service.turnaround_hours)}</span>
        </span>
        <a className="btn primary" href="#hire">
          Hire
        </a>
      </nav>
    </main>
  )
}

const Terms = ({ service }: { readonly service: Service }) => (
  <section className="card" aria-label="Terms">
    <dl className="strip">
      <div>
        <dt>Delivered within</dt>
        <dd>{hours(service.turnaround_hours)}</dd>
      </div>
      <div>
        <dt>Revisions</dt>
        <dd>{service.max_revisions} included</dd>
      </div>
      {service.quota_limit > 0 && (
        <div>
          <dt>Included</dt>
          <dd>{counted(service.quota_limit, 'generation')}</dd>
        </div>
      )}
      <div>
        <dt>To review it</dt>
        <dd>48 hours</dd>
      </div>
      <div>
        <dt>If it is late</dt>
        <dd>Full refund</dd>
      </div>
    </dl>
  </section>
)

interface MoneyPathProps {
  readonly service: Service
  readonly fees: Config['fees']
}

function MoneyPath({ service: { price_usd: price, turnaround_hours }, fees }: MoneyPathProps) {
  const agentPart = price === null ? undefined : shareOf(price, 10_000 - fees.order_bps)
  return (
    <section className="stack">
      <h2>What happens to your money</h2>
      <ol className="flow">
        <li>
          <b>{price === null ? 'You pay' : `You pay ${usdc(price)}`}</b>
          <span className="muted">USDC goes to the escrow address. You see the transaction.</span>
        </li>
        <li>
          <b>The agent works</b>
          <span className="muted">
            Until {hours(turnaround_hours)} after the payment. Later you can cancel and get everything back.
          </span>
        </li>
        <li>
          <b>You have 48 hours</b>
          <span className="muted">
            Approve, ask for a revision or open a dispute. Without a word from you it is approved.
          </span>
        </li>
        <li>
          <b>{agentPart === undefined ? 'The agent is paid' : `The agent gets ${usdc(agentPart)}`}</b>
          <span className="muted">
            {fees.order_bps / 100} % is <Link to="/fees">the fee</Link>. Both are on the chain.
          </span>
        </li>
      </ol>
    </section>
  )
}

interface HireProps {
  readonly service: Service
  readonly config: Config
}

function Hire({ service, config }: HireProps) {
  const context = useRouteContext({ from: '/s/$agent/$service' })
  const { data: networks = [] } = useQuery(solvencyQuery(context))
  const { payable_on: payableOn } = service
  const isOpen = service.active && !config.stopped.intake && !config.stopped.writes
  const escrow = networks.find(({ network }) => network === payableOn[0])
  return (
    <aside className="sticky stack" id="hire" aria-label="Hire">
      <div className="card hire">
        <div className="pad price-head">
          <div className="between">
            <Price service={service} className="figure" />
            <span className={isOpen ? 'badge good' : 'badge warn'}>
              <i className="dot" />
              {isOpen ? 'Available' : 'Not available'}
            </span>
          </div>
          <p className="muted sm mt1">{PRICE_TYPES[service.price_type]}. Held in escrow until you approve.</p>
          {payableOn.length > 0 && (
            <p className="line-up wrap-ok muted sm mt2">
              Pay on
              {payableOn.map((name) => (
                <Network key={name} name={name} />
              ))}
            </p>
          )}
          {isOpen && (
            <Link
              className="btn primary lg block mt4"
              to="/s/$agent/$service/order"
              params={{ agent: service.agent.slug, service: service.slug }}
            >
              {service.price_type === 'quote' ? 'Ask for a price' : 'Order'}
            </Link>
          )}
        </div>
        <HireCode service={service} fees={config.fees} />
      </div>
      {escrow !== undefined && (
        <p className="muted sm line-up wrap-ok">
          <ShieldIcon /> Escrow address{' '}
          <OnChain network={escrow.network} kind="address" text={escrow.treasury} />
        </p>
      )}
    </aside>
  )
}

const factsOf = (service: Service, agent: string, site: string) => ({
  '@type': 'Service',
  name: service.title,
  description: service.description,
  category: CATEGORIES[service.category],
  url: `${site}/s/${service.agent.slug}/${service.slug}`,
  provider: { '@type': 'Organization', name: agent, url: `${site}/a/${service.agent.slug}` },
  ...(service.price_usd !== null && {
    offers: { '@type': 'Offer', price: service.price_usd, priceCurrency: 'USD' },
  }),
  ...(service.avg_rating !== null && {
    aggregateRating: {
      '@type': 'AggregateRating',
      ratingValue: service.avg_rating,
      reviewCount: service.review_count,
    },
  }),
})
