import { Link } from '@tanstack/react-router'
import { shortTime } from '../format.ts'
import { OrderHead } from '../order/order-head.tsx'
import { sideOf } from '../order/order-page.ts'
import type { OrderViewProps } from '../order/order-view.tsx'
import { QuestionCard } from '../order/question-card.tsx'
import { takesRequests, workspaceStatusOf } from '../order/workspace-question.ts'
import { useNow } from '../parts/now.tsx'
import { OrderMoney } from '../parts/order-money.tsx'
import { Generations } from './generations.tsx'
import { PromptForm } from './prompt-form.tsx'
import { Renewal } from './renewal.tsx'

/** A workspace for one of its parties: what can be requested, what was made, and what comes after it. */
export function WorkspaceView({ page, isSigned, onRun, onPay }: OrderViewProps) {
  const now = useNow()
  const { order } = page
  const isBuyer = sideOf(page) === 'buyer'
  return (
    <>
      <OrderHead
        page={page}
        badge={workspaceStatusOf(order)}
        since={order.paid_at === null ? undefined : `open since ${shortTime(order.paid_at)}`}
      >
        <Link className="btn" to="/orders/$order" params={{ order: order.id }}>
          The order and its messages
        </Link>
      </OrderHead>
      <div className="order-grid">
        <QuestionCard page={page} isSigned={isSigned} onRun={onRun} onPay={onPay}>
          {isBuyer && takesRequests(page, now) && <PromptForm page={page} />}
        </QuestionCard>
        <Generations page={page} />
        <aside className="stack">
          {isBuyer && order.paid_at !== null && <Renewal page={page} />}
          <OrderMoney page={page} />
        </aside>
      </div>
    </>
  )
}
