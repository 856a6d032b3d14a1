import type { Operations } from '@market/sdk'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useRouteContext } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { hours, usdc } from '../format.ts'
import { configQuery, serviceQuery } from '../market.ts'
import { shareOf } from '../money.ts'
import { PRICE_TYPES } from '../names.ts'
import { clearDraft, readDraft, writeDraft } from '../order/draft.ts'
import { OrderFields } from '../order/order-fields.tsx'
import { fieldsOf, filesOf } from '../order/read-order-form.ts'
import { Head } from '../parts/head.tsx'
import { ChevronIcon } from '../parts/icons.tsx'
import { Private } from '../parts/private.tsx'
import { Problem } from '../parts/problem.tsx'
import { Stopped } from '../parts/stopped.tsx'
import { useCalls } from '../session/use-calls.ts'
import { useCreationKey } from '../session/use-creation-key.ts'
import { useRun } from '../session/use-run.ts'

type Service = Operations['getService']['data']
type Config = Operations['getConfig']['data']

/** What a buyer says with an order, and what it costs, before the button. */
export function OrderFormPage() {
  const params = useParams({ from: '/s/$agent/$service/order' })
  const context = useRouteContext({ from: '/s/$agent/$service/order' })
  const { data: service } = useSuspenseQuery(serviceQuery(context, params.agent, params.service))
  const { data: config } = useSuspenseQuery(configQuery(context))
  return (
    <main id="content" className="wrap">
      <Head title={`Order: ${service.title}`} description={service.description} />
      <Stopped config={config} />
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link to="/s/$agent/$service" params={params} className="any-word">
          {service.title}
        </Link>{' '}
        <ChevronIcon /> Order
      </nav>
      <div className="with-side">
        <div className="stack-6">
          <h1 className="title any-word">What do you need from {service.agent.name}?</h1>
          <Private signedOut="Sign in to order here. Without an account, programs buy it with one request: see the code on the page of the service.">
            <OrderForm service={service} config={config} />
          </Private>
        </div>
        <Cost service={service} fees={config.fees} />
      </div>
    </main>
  )
}

interface OrderFormProps {
  readonly service: Service
  readonly config: Config
}

function OrderForm({ service, config }: OrderFormProps) {
  const navigate = useNavigate()
  const { call, isSigned } = useCalls()
  const { isRunning, error, run } = useRun()
  const withKey = useCreationKey()
  const isOpen = service.active && !config.stopped.intake && !config.stopped.writes
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    let orderId = ''
    const isDone = await run(() =>
      withKey(async (idempotencyKey) => {
        const files = []
        for (const file of filesOf(form))
          files.push(await call((market, options) => market.uploadFile({ file } as never, options)))
        const fields = { service_id: service.id, ...fieldsOf(service, form, files) }
        const order = await call((market, options) =>
          market.createOrder(fields as never, { ...options, idempotencyKey }),
        )
        orderId = order.id
      }),
    )
    if (!isDone) return
    clearDraft(service.id)
    await navigate({ to: '/orders/$order', params: { order: orderId } })
  }
  return (
    <form
      className="card"
      onSubmit={submit}
      onInput={({ currentTarget }) => writeDraft(service.id, new FormData(currentTarget))}
    >
      <div className="pad stack-6">
        <OrderFields service={service} draft={readDraft(service.id)} />
      </div>
      <footer className="stack">
        <Problem error={error} />
        <button className="btn primary lg" type="submit" disabled={isRunning || !isOpen}>
          {isRunning
            ? isSigned
              ? 'Confirm it in your wallet …'
              : 'One moment …'
            : service.price_usd === null || service.price_type === 'quote'
              ? 'Ask for a price'
              : `Order for ${usdc(service.price_usd)} USDC`}
        </button>
        <p className="sm">
          {isOpen ? 'You pay on the next page. Until then you can cancel.' : 'Orders are not accepted now.'}
          {isSigned && ' Your wallet signs the order and each file.'}
        </p>
      </footer>
    </form>
  )
}

interface CostProps {
  readonly service: Service
  readonly fees: Config['fees']
}

const Cost = ({ service: { price_usd: price, price_type, ...service }, fees }: CostProps) => (
  <aside className="sticky card" aria-label="Price">
    <header>
      <h2>Price</h2>
    </header>
    <div className="pad">
      {price === null || price_type === 'quote' ? (
        <p className="muted">{service.agent.name} names a price. You pay only after you have seen it.</p>
      ) : (
        <dl className="kv">
          <dt>Price</dt>
          <dd>
            {usdc(price)} USDC, {PRICE_TYPES[price_type].toLowerCase()}
          </dd>
          <dt>To {service.agent.name}</dt>
          <dd>{usdc(shareOf(price, 10_000 - fees.order_bps))} USDC</dd>
          <dt>Market fee, included</dt>
          <dd>{fees.order_bps / 100} %</dd>
          <dt>
            <strong className="ink">You pay</strong>
          </dt>
          <dd>
            <strong className="ink">{usdc(price)} USDC</strong>
          </dd>
        </dl>
      )}
    </div>
    <footer>
      Delivered within {hours(service.turnaround_hours)}, with {service.max_revisions} revisions. Held in
      escrow until you approve.
    </footer>
  </aside>
)
