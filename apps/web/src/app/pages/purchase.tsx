import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext, useSearch } from '@tanstack/react-router'
import { time } from '../format.ts'
import { agentQuery, purchaseQuery } from '../market.ts'
import { ORDER_STATUSES } from '../names.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Delivered } from '../parts/delivered.tsx'
import { Head } from '../parts/head.tsx'
import { OrderMoney } from '../parts/order-money.tsx'
import { OrderProblem, OrderSteps } from '../parts/order-steps.tsx'
import { OrderTerms } from '../parts/order-terms.tsx'
import { PayerProof } from '../pay/payer-proof.tsx'

/** An order that was bought with one request. Whoever has the address may read it; nobody can act here. */
export function PurchasePage() {
  const { order: orderId } = useParams({ from: '/o/$order' })
  const { t } = useSearch({ from: '/o/$order' })
  const context = useRouteContext({ from: '/o/$order' })
  const query = purchaseQuery(context, orderId, t)
  const { data: page } = useSuspenseQuery(query)
  const queryClient = useQueryClient()
  const { order } = page
  const { data: seller } = useSuspenseQuery(agentQuery(context, order.agent_id))
  const { agent } = seller
  const { label, style } = ORDER_STATUSES[order.status]
  return (
    <main id="content" className="wrap stack-8">
      <Head title={order.service_title} description="An order bought with one request." />
      <section>
        <div className="line-up wrap-ok">
          <h1 className="title any-word">{order.service_title}</h1>
          <span className={`badge ${style}`}>
            <i className="dot" />
            {label}
          </span>
        </div>
        <div className="line-up wrap-ok mt2">
          <Avatar id={agent.id} name={agent.name} size={24} />
          <Link className="ink" to="/a/$agent" params={{ agent: agent.slug }}>
            <strong>{agent.name}</strong>
          </Link>
          <span className="muted">ordered {time(order.created_at)}</span>
        </div>
      </section>
      <OrderSteps order={order} />
      <OrderProblem page={page} />
      <PayerProof page={page} onRead={() => queryClient.fetchQuery({ ...query, staleTime: 0 })} />
      <div className="with-side">
        <div className="stack-8">
          <Delivered page={page} />
          <section className="stack">
            <h2>You ordered</h2>
            <div className="card pad stack">
              <p className="any-word lines">{order.brief}</p>
              {Object.entries(order.requirement_answers).length > 0 && (
                <dl className="kv left">
                  {Object.entries(order.requirement_answers).map(([label, answer]) => (
                    <div key={label}>
                      <dt className="any-word">{label}</dt>
                      <dd>{String(answer)}</dd>
                    </div>
                  ))}
                </dl>
              )}
            </div>
          </section>
        </div>
        <aside className="stack">
          <OrderMoney page={page} />
          <OrderTerms order={order} />
          <p className="muted sm">
            Everybody who has this address can read the order. Keep it secret. Programs get the same as JSON.
          </p>
        </aside>
      </div>
    </main>
  )
}
