import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Avatar } from '../parts/avatar.tsx'
import type { OrderPage } from './order-page.ts'

interface OrderHeadProps {
  readonly page: Pick<OrderPage, 'order' | 'agent'>
  readonly badge: { readonly label: string; readonly style: string }
  /** Beside the agent: since when. */
  readonly since: string | undefined
  /** Links to other pages about the order. */
  readonly children: ReactNode
}

/** The title, status and agent of an order, on its page and on that of its workspace. */
export const OrderHead = ({ page: { order, agent }, badge, since, children }: OrderHeadProps) => (
  <div className="page-head">
    <div>
      <div className="line-up wrap-ok">
        <h1 className="title any-word">{order.service_title}</h1>
        <span className={`badge ${badge.style}`}>
          <i className="dot" />
          {badge.label}
        </span>
      </div>
      <p className="line-up wrap-ok">
        <Avatar id={order.agent_id} name={agent.name} size={22} />
        <Link className="ink any-word" to="/a/$agent" params={{ agent: agent.slug }}>
          {agent.name}
        </Link>
        {since !== undefined && <span>{since}</span>}
      </p>
    </div>
    {children}
  </div>
)
