import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { counted, shortTime, usdc } from '../format.ts'
import { serviceQuery } from '../market.ts'
import type { OrderPage } from '../order/order-page.ts'
import { orderQuery } from '../order/queries.ts'
import { useNow } from '../parts/now.tsx'
import { Problem } from '../parts/problem.tsx'
import { PayDialog } from '../pay/pay-dialog.tsx'
import { payeeOfOrder, usePayment } from '../pay/use-payment.ts'
import { useCalls } from '../session/use-calls.ts'
import { useCreationKey } from '../session/use-creation-key.ts'
import { useRun } from '../session/use-run.ts'

type Order = OrderPage['order']

const TERMS: Readonly<Record<Order['price_type'], string>> = {
  weekly: '7 days',
  monthly: '30 days',
  fixed: '24 hours',
  quote: '',
}
/** As long before the end as the buyer is notified. */
const SOON_MS = 3 * 86_400_000

/** The next term of a workspace: a new order of the same service, with the same brief and answers. */
export function Renewal({ page }: { readonly page: OrderPage }) {
  const { order, agent } = page
  const now = useNow()
  const context = useRouteContext({ from: '__root__' })
  const { call, isSigned } = useCalls()
  const { isRunning, error, run } = useRun()
  const { data: service, error: missing } = useQuery(
    serviceQuery(context, agent.slug, order.service_id ?? ''),
  )
  const [renewal, setRenewal] = useState<Order>()
  // Whoever closes the dialog and renews again pays the same order.
  const withKey = useCreationKey()
  const ends = order.workspace_ends_at
  const isOver = ends === null || Date.parse(ends) <= now || order.status !== 'in_progress'
  const isSoon = isOver || Date.parse(ends) - now < SOON_MS
  const isOffered = service?.active === true && service.price_usd !== null
  const renew = () =>
    run(async () => {
      const made = await withKey((idempotencyKey) =>
        call((market, options) =>
          market.createOrder(againOf(order) as never, { ...options, idempotencyKey }),
        ),
      )
      setRenewal(made as Order)
    })
  return (
    <section className="card">
      <header>
        <h2>Next term</h2>
      </header>
      <div className="pad stack">
        {isOffered ? (
          <>
            <p className="muted">
              {counted(service.quota_limit, 'generation')} in {TERMS[service.price_type]} for{' '}
              {usdc(service.price_usd ?? '0')} USDC. The term starts when it is paid
              {isOver || ends === null ? '' : `; this one stays open until ${shortTime(ends)}`}. Nothing is
              charged by itself.
            </p>
            <Problem error={error} />
            <button
              className={isSoon ? 'btn primary block' : 'btn block'}
              type="button"
              disabled={isRunning}
              onClick={() => void renew()}
            >
              {isRunning
                ? isSigned
                  ? 'Confirm it in your wallet …'
                  : 'One moment …'
                : `Renew for ${usdc(service.price_usd ?? '0')} USDC`}
            </button>
          </>
        ) : (
          <p className="muted">
            {service === undefined && missing === null
              ? 'One moment …'
              : `${agent.name} does not offer this service any more.`}
          </p>
        )}
      </div>
      {renewal !== undefined && (
        <PayRenewal
          order={renewal}
          agent={agent.name}
          onRead={setRenewal}
          onClose={() => setRenewal(undefined)}
        />
      )}
    </section>
  )
}

/** The same order again, as `createOrder` takes it. */
const againOf = ({ service_id, brief, requirement_answers, ...order }: Order) => ({
  ...{ service_id, requirement_answers, private: order.private, ...(brief !== '' && { brief }) },
  reference_urls: order.reference_urls.map(withoutSignature),
  reference_images: order.reference_images.map(withoutSignature),
})

/** The link to an upload of a private order is signed for some minutes. */
const withoutSignature = (url: string): string => url.replace(/(\/upl_[^/?]+\/[^?]+)\?.*$/, '$1')

interface PayRenewalProps {
  readonly order: Order
  readonly agent: string
  /** The order was read again. */
  readonly onRead: (order: Order) => void
  readonly onClose: () => void
}

/** Pays the new order, and shows its workspace. */
function PayRenewal({ order, agent, onRead, onClose }: PayRenewalProps) {
  const context = useRouteContext({ from: '__root__' })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const open = () => navigate({ to: '/workspaces/$order', params: { order: order.id } })
  const { pay, nameSent, optionsOf } = usePayment(payeeOfOrder(order.id), open)
  return (
    <PayDialog
      title={`Renew for ${usdc(order.price_usd ?? '0')} USDC`}
      text={`${order.service_title} by ${agent}`}
      options={order.payment}
      onPay={pay}
      onSent={nameSent}
      optionsOf={optionsOf}
      onReload={async () =>
        onRead((await queryClient.fetchQuery({ ...orderQuery(context, order.id), staleTime: 0 })).order)
      }
      onClose={onClose}
    />
  )
}
