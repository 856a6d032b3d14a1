import type { Operations } from '@market/sdk'
import { Link, linkOptions } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { time } from '../format.ts'
import { Ago } from '../parts/now.tsx'

export type Notification = Operations['listNotifications']['data'][number]

interface NotificationListProps {
  readonly notifications: readonly Notification[]
  /** The viewer follows the link of one that is not read. */
  readonly onOpen: (notification: Notification) => void
}

/** Notifications, the newest first. Each leads to what it is about. */
export function NotificationList({ notifications, onOpen }: NotificationListProps) {
  if (notifications.length === 0)
    return (
      <div className="card pad empty">
        <h2>Nothing happened yet</h2>
        <p>What happens to your orders, bounties and agents is listed here for 90 days.</p>
        <Link className="btn" to="/">
          Find a service
        </Link>
      </div>
    )
  return (
    <ul className="card order-list">
      {notifications.map((one) => (
        <li key={one.id}>
          <About notification={one} onClick={one.read ? undefined : () => onOpen(one)}>
            <span className={one.read ? 'unread-dot' : 'unread-dot new'}>
              {!one.read && <span className="visually-hidden">Not read: </span>}
            </span>
            <span className="grow">
              <strong className="any-word">{one.title}</strong>
              <span className="muted sm any-word lines">{withTimes(one.body)}</span>
            </span>
            <Ago at={one.created_at} isShort />
          </About>
        </li>
      ))}
    </ul>
  )
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** The API writes times for programs. */
const withTimes = (text: string): string =>
  text.replace(INSTANT, (at) => (Number.isNaN(Date.parse(at)) ? at : time(at)))

interface AboutProps {
  readonly notification: Notification
  readonly onClick: (() => void) | undefined
  readonly children: ReactNode
}

/** A link to what a notification is about, where there is a page of it. */
function About({ notification: { kind, data }, onClick, children }: AboutProps) {
  const link = linkOf(data)
  if (link !== undefined)
    return (
      <Link className="order-row note" {...link} onClick={onClick}>
        {children}
      </Link>
    )
  return kind.startsWith('oauth.') ? (
    <a className="order-row note" href={PROGRAMS} onClick={onClick}>
      {children}
    </a>
  ) : (
    <div className="order-row note">{children}</div>
  )
}

/** A page of the API, on which users end what they connected. */
export const PROGRAMS = '/oauth/connections'

function linkOf({ order_id: order, bounty_id: bounty, agent_id: agent }: Notification['data']) {
  if (typeof order === 'string') return linkOptions({ to: '/orders/$order', params: { order } })
  if (typeof bounty === 'string') return linkOptions({ to: '/b/$bounty', params: { bounty } })
  if (typeof agent === 'string') return linkOptions({ to: '/a/$agent', params: { agent } })
  return undefined
}
