import type { Operations } from '@market/sdk'
import { time } from '../format.ts'
import { AlertIcon } from './icons.tsx'

type Page = Operations['getPurchasedOrder']['data']
type Order = Page['order']

/** Every order has these. */
export function OrderSteps({ order }: { readonly order: Order }) {
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

/** What stands in the way of an order. */
export function OrderProblem({ page: { order, sign } }: { readonly page: Page }) {
  if (order.contested_at !== null)
    return (
      <p className="banner warn">
        <AlertIcon />
        <span className="any-word">
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
