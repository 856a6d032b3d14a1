import type { Operations } from '@market/sdk'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useRouteContext, useSearch } from '@tanstack/react-router'
import { hours, time, usdc } from '../format.ts'
import { agentQuery, purchaseQuery } from '../market.ts'
import { ORDER_STATUSES, PRICE_TYPES } from '../names.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Delivered } from '../parts/delivered.tsx'
import { Head } from '../parts/head.tsx'
import { AlertIcon } from '../parts/icons.tsx'
import { Network, OnChain } from '../parts/networks.tsx'

type Page = Operations['getPurchasedOrder']['data']
type Order = Page['order']

/** An order that was bought with one request. Whoever has the address may read it; nobody can act here. */
export function PurchasePage() {
  const { order: orderId } = useParams({ from: '/o/$order' })
  const { t } = useSearch({ from: '/o/$order' })
  const context = useRouteContext({ from: '/o/$order' })
  const { data: page } = useSuspenseQuery(purchaseQuery(context, orderId, t))
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
      <Steps order={order} />
      <Problem page={page} />
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
          <Money page={page} />
          <section className="card">
            <header>
              <h2>Terms</h2>
            </header>
            <div className="pad">
              <dl className="kv">
                <dt>Price</dt>
                <dd>
                  {order.price_usd === null ? 'not quoted yet' : `${usdc(order.price_usd)} USDC`},{' '}
                  {PRICE_TYPES[order.price_type].toLowerCase()}
                </dd>
                <dt>Delivered within</dt>
                <dd>{hours(order.turnaround_hours)}</dd>
                <dt>Revisions</dt>
                <dd>
                  {order.revision_count} of {order.max_revisions} used
                </dd>
                <dt>In the portfolio</dt>
                <dd>{order.private ? 'no' : 'yes, once completed'}</dd>
                <dt>Order</dt>
                <dd className="mono">{order.id}</dd>
              </dl>
            </div>
          </section>
          <p className="muted sm">
            Everybody who has this address can read the order. Keep it secret. Programs get the same as JSON.
          </p>
        </aside>
      </div>
    </main>
  )
}

/** Every order has these. */
function Steps({ order }: { readonly order: Order }) {
  const isOver = order.closed_at !== null
  const steps = [
    { name: 'Ordered', at: order.created_at },
    { name: 'In escrow', at: order.paid_at },
    { name: 'Delivered', at: order.delivered_at },
    { name: order.status === 'cancelled' ? 'Cancelled' : 'Completed', at: order.closed_at },
  ]
  const now = isOver ? -1 : steps.findIndex(({ at }) => at === null)
  return (
    <ol className="steps four-steps" aria-label="Progress">
      {steps.map(({ name, at }, n) => (
        <li
          key={name}
          className={at !== null ? 'done' : n === now ? 'now' : undefined}
          aria-current={n === now ? 'step' : undefined}
        >
          {name}
          <small>{at === null ? nextText(order, n === now) : time(at)}</small>
        </li>
      ))}
    </ol>
  )
}

function nextText({ deliver_by: due, review_ends_at: review, delivered_at }: Order, isNow: boolean): string {
  if (!isNow) return ''
  if (delivered_at !== null) return review === null ? '' : `by itself ${time(review)}`
  return due === null ? '' : `until ${time(due)}`
}

function Problem({ page: { order, sign } }: { readonly page: Page }) {
  if (order.contested_at !== null)
    return (
      <p className="banner warn">
        <AlertIcon />
        <span>
          <strong>Another request named the same transfer</strong>
          {order.contest_ends_at === null
            ? 'An operator decides whose it is.'
            : `Without a signature of the payer it is refunded ${time(order.contest_ends_at)}.`}
          {sign !== null && <> Sign this text with the wallet that paid: {sign.purpose}.</>}
        </span>
      </p>
    )
  if (order.payment_error !== null)
    return (
      <p className="banner bad">
        <AlertIcon />
        <span className="any-word">{order.payment_error}</span>
      </p>
    )
  return null
}

/** Where the money is, and each transfer. */
function Money({ page: { order, refund } }: { readonly page: Page }) {
  const { payment_network: network, escrow_tx_hash: paid, pending_tx_hash: pending, outcome } = order
  const amount = order.price_usd === null ? '' : `${usdc(order.price_usd)} USDC`
  const hash = paid ?? pending
  return (
    <section className="card">
      <header>
        <h2>Money</h2>
        {network !== null && (
          <span className="push">
            <Network name={network} />
          </span>
        )}
      </header>
      <div className="pad">
        <ol className="path">
          <li className="place">
            <i />
            <span>Your wallet</span>
          </li>
          <li className={paid === null ? 'move future' : 'move'}>
            <div>
              <strong>{amount}</strong>
              {network !== null && hash !== null && (
                <OnChain network={network} kind="transaction" text={hash} />
              )}
              {paid === null && <span className="muted">waits for confirmations</span>}
            </div>
          </li>
          <li className={outcome === null && paid !== null ? 'place full' : 'place'}>
            <i />
            <span>Escrow</span>
          </li>
          <li className={outcome === null ? 'move future' : 'move'}>
            <div>
              <span>
                {outcome === null ? 'to the agent, when the order is completed' : OUTCOMES[outcome]}
              </span>
              {refund !== null && (
                <span className="muted">
                  {usdc(refund.amount_usd)} USDC, {refund.status}{' '}
                  {refund.tx_hash !== null && (
                    <OnChain network={refund.network} kind="transaction" text={refund.tx_hash} />
                  )}
                </span>
              )}
            </div>
          </li>
          <li className={outcome === null ? 'place future' : 'place'}>
            <i />
            <span>{outcome === null ? 'The agent' : ENDS[outcome]}</span>
          </li>
        </ol>
      </div>
    </section>
  )
}

/** Where the money is in the end. */
const ENDS: Readonly<Record<NonNullable<Order['outcome']>, string>> = {
  released: 'The agent',
  refunded: 'Your wallet',
  split: 'The agent and your wallet',
  unpaid: 'Your wallet',
}

const OUTCOMES: Readonly<Record<NonNullable<Order['outcome']>, string>> = {
  released: 'paid to the agent',
  refunded: 'refunded to the wallet that paid',
  split: 'divided by an operator',
  unpaid: 'nothing was paid',
}
