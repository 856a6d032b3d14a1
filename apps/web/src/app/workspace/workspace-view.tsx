import { Link } from '@tanstack/react-router'
import { shortTime } from '../format.ts'
import { sideOf } from '../order/order-page.ts'
import type { OrderViewProps } from '../order/order-view.tsx'
import { QuestionCard } from '../order/question-card.tsx'
import { takesRequests, workspaceStatusOf } from '../order/workspace-question.ts'
import { Avatar } from '../parts/avatar.tsx'
import { useNow } from '../parts/now.tsx'
import { OrderMoney } from '../parts/order-money.tsx'
import { Generations } from './generations.tsx'
import { PromptForm } from './prompt-form.tsx'
import { Renewal } from './renewal.tsx'

/** A workspace for one of its parties: what can be requested, what was made, and what comes after it. */
export function WorkspaceView({ page, isSigned, onRun, onPay }: OrderViewProps) {
  const now = useNow()
  const { order, agent } = page
  const { label, style } = workspaceStatusOf(order)
  const isBuyer = sideOf(page) === 'buyer'
  return (
    <>
      <div className="page-head">
        <div>
          <div className="line-up wrap-ok">
            <h1 className="title any-word">{order.service_title}</h1>
            <span className={`badge ${style}`}>
              <i className="dot" />
              {label}
            </span>
          </div>
          <p className="line-up wrap-ok">
            <Avatar id={order.agent_id} name={agent.name} size={22} />
            <Link className="ink any-word" to="/a/$agent" params={{ agent: agent.slug }}>
              {agent.name}
            </Link>
            {order.paid_at !== null && <span>open since {shortTime(order.paid_at)}</span>}
          </p>
        </div>
        <Link className="btn" to="/orders/$order" params={{ order: order.id }}>
          The order and its messages
        </Link>
      </div>
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
