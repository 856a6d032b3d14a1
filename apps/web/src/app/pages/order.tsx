import type { CallOptions } from '@market/sdk'
import type { Client } from '@market/sdk/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams, useRouteContext } from '@tanstack/react-router'
import { type ComponentType, useEffect, useState } from 'react'
import { type OrderAct, type OrderPage as Page, possibleActs } from '../order/order-page.ts'
import { OrderView, type OrderViewProps } from '../order/order-view.tsx'
import { messagesQuery, orderQuery } from '../order/queries.ts'
import { Head } from '../parts/head.tsx'
import { Loading, NotRead, Private } from '../parts/private.tsx'
import { PayDialog, paidOf } from '../pay/pay-dialog.tsx'
import { PayerProof } from '../pay/payer-proof.tsx'
import { SentBanner } from '../pay/sent-banner.tsx'
import { payeeOfOrder, usePayment } from '../pay/use-payment.ts'
import { serverNow } from '../server-clock.ts'
import { useLiveOrders } from '../session/live-orders.ts'
import { useCalls } from '../session/use-calls.ts'

/** An order for its parties. The server draws its frame only. */
export function OrderPage() {
  const { order } = useParams({ from: '/orders/$order' })
  return (
    <main id="content" className="wrap">
      <Head title="Your order" description="An order of yours." />
      <Private signedOut="An order is shown to its buyer and its agent. Is it yours?">
        <OwnOrder orderId={order} View={OrderView} />
      </Private>
    </main>
  )
}

/** While a payment is being confirmed, nothing else tells how far it is. */
const CONFIRMING_MS = 4_000
/** The same of the transfer that ends an order. */
const SETTLING_MS = 10_000
const SETTLING_FOR_MS = 3_600_000

function intervalOf(page: Page | undefined): number | undefined {
  if (page === undefined) return undefined
  const { order, pending_payment, agent_paid, refund } = page
  if (pending_payment !== null) return CONFIRMING_MS
  const isSettling = order.paid_at !== null && !agent_paid && refund?.status !== 'sent'
  const endedAt = Date.parse(order.closed_at ?? '')
  return isSettling && serverNow() - endedAt < SETTLING_FOR_MS ? SETTLING_MS : undefined
}

interface OwnOrderProps {
  readonly orderId: string
  readonly View: ComponentType<OrderViewProps>
}

/** Reads an order of the viewer, keeps it current, and runs what its view asks for. */
export function OwnOrder({ orderId, View }: OwnOrderProps) {
  const context = useRouteContext({ from: '__root__' })
  const queryClient = useQueryClient()
  const everyMs = useLiveOrders()
  const { call, isSigned } = useCalls()
  const [isPaying, setPaying] = useState(false)
  const {
    data: page,
    error,
    refetch,
  } = useQuery({
    ...orderQuery(context, orderId),
    refetchInterval: ({ state: { data } }) => intervalOf(data) ?? everyMs,
  })
  const { data: messages } = useQuery(messagesQuery(context, orderId))
  const changed = () =>
    Promise.all(
      ['order', 'messages', 'orders'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })),
    )
  const { sent, pay, nameSent, nameAgain, forget, optionsOf } = usePayment(payeeOfOrder(orderId), changed)
  const isPayable = page !== undefined && canPay(page)
  useEffect(() => {
    if (!isPayable) setPaying(false)
  }, [isPayable])
  if (page === undefined)
    return error === null ? <Loading /> : <NotRead error={error} onRetry={() => void refetch()} />
  const run = async (act: OrderAct, fields: Readonly<Record<string, unknown>>) => {
    await call((market, options) => request(market, act, { order_id: orderId, ...fields }, options))
    await changed()
  }
  const send = async (content: string) => {
    await call((market, options) => market.sendMessage({ order_id: orderId, content }, options))
    await changed()
  }
  return (
    <>
      {sent !== undefined && isPayable && (
        <SentBanner sent={sent} isSigned={isSigned} onName={nameAgain} onForget={forget} />
      )}
      <PayerProof page={page} onRead={async () => (await refetch()).data} />
      <View
        page={sent === undefined && page.pending_payment === null ? page : withoutPay(page)}
        messages={messages}
        isSigned={isSigned}
        onRun={run}
        onSend={send}
        onPay={() => setPaying(true)}
      />
      {isPaying && isPayable && (
        <PayDialog
          {...paidOf(page.order, page.agent)}
          onPay={pay}
          onSent={nameSent}
          optionsOf={optionsOf}
          onReload={changed}
          onClose={() => setPaying(false)}
        />
      )}
    </>
  )
}

const canPay = (page: Page): boolean =>
  page.pending_payment === null && possibleActs(page).some(({ action }) => action === 'pay')

/** While a payment is not settled, the page does not offer to pay a second time. */
const withoutPay = (page: Page): Page => ({
  ...page,
  acts: page.acts.filter(({ action }) => action !== 'pay'),
})

/** The request of an action, as the order names it. */
const request = (
  market: Client,
  { action, operation }: OrderAct,
  fields: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<unknown> =>
  market[operation]({ ...fields, ...(operation === 'actOnOrder' && { action }) } as never, options)
