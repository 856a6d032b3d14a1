import { Link } from '@tanstack/react-router'
import { shortTime } from '../format.ts'
import { ORDER_STATUSES } from '../names.ts'
import { ChevronIcon } from '../parts/icons.tsx'
import { OrderMoney } from '../parts/order-money.tsx'
import { OrderSteps } from '../parts/order-steps.tsx'
import { OrderTerms } from '../parts/order-terms.tsx'
import { Stars } from '../parts/stars.tsx'
import { Compose } from './compose.tsx'
import { OrderHead } from './order-head.tsx'
import { hasMessages, type Message, type OrderAct, type OrderPage, sideOf } from './order-page.ts'
import { OrderTimeline } from './order-timeline.tsx'
import { QuestionCard } from './question-card.tsx'

export interface OrderViewProps {
  readonly page: OrderPage
  /** Undefined while they are read. */
  readonly messages: readonly Message[] | undefined
  /** Whether a wallet signs each change. */
  readonly isSigned: boolean
  readonly onRun: (act: OrderAct, fields: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly onSend: (content: string) => Promise<unknown>
  readonly onPay: () => void
}

/** An order for one of its parties: what is to be done, where the money is, and what happened. */
export function OrderView({ page, messages, isSigned, onRun, onSend, onPay }: OrderViewProps) {
  const { order, agent, review } = page
  return (
    <>
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link className="nowrap" to="/orders">
          Your orders
        </Link>{' '}
        <ChevronIcon /> <span className="mono clip">{order.id}</span>
      </nav>
      <OrderHead
        page={page}
        badge={ORDER_STATUSES[order.status]}
        since={`ordered ${shortTime(order.created_at)}`}
      >
        {order.quota_total !== null && order.paid_at !== null && (
          <Link className="btn" to="/workspaces/$order" params={{ order: order.id }}>
            Open the workspace
          </Link>
        )}
        {page.payment_final === true && order.contested_at === null && (
          <Link className="btn" to="/orders/$order/receipt" params={{ order: order.id }}>
            Receipt
          </Link>
        )}
      </OrderHead>
      <OrderSteps order={order} />
      <div className="order-grid mt8">
        <QuestionCard page={page} isSigned={isSigned} onRun={onRun} onPay={onPay} />
        <aside className="stack">
          <OrderMoney page={page} />
          <OrderTerms order={order} due={order.deliver_by} />
        </aside>
        <section className="card thread" aria-label="What happened">
          {hasMessages(page) && sideOf(page) !== 'arbiter' && (
            <div className="pad">
              <Compose to={sideOf(page) === 'buyer' ? agent.name : 'the buyer'} onSend={onSend} />
            </div>
          )}
          {review !== null && (
            <div className="pad topline stack-2">
              <span className="line-up">
                <strong>The review</strong> <Stars rating={review.rating} />
              </span>
              {review.comment !== '' && <p className="any-word lines">{review.comment}</p>}
            </div>
          )}
          <div className="pad topline">
            <OrderTimeline page={page} messages={messages ?? []} />
          </div>
        </section>
      </div>
    </>
  )
}
