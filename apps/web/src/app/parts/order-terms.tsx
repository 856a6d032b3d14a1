import { hours, shortTime, usdc } from '../format.ts'
import { PRICE_TYPES } from '../names.ts'
import type { OrderPage } from '../order/order-page.ts'

interface OrderTermsProps {
  readonly order: OrderPage['order']
  /** When the delivery is due, where it is shown. */
  readonly due?: string | null
}

/** What was agreed. */
export const OrderTerms = ({ order, due = null }: OrderTermsProps) => (
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
        {due !== null && (
          <>
            <dt>Delivery due</dt>
            <dd>{shortTime(due)}</dd>
          </>
        )}
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
)
