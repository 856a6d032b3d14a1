import type { Operations } from '@market/sdk'
import { time } from '../format.ts'
import { Files } from '../order/files.tsx'

type Page = Operations['getPurchasedOrder']['data']

/** The deliveries of an order, the newest one first. */
export const Delivered = ({ page: { order, deliveries } }: { readonly page: Page }) => (
  <section className="stack">
    <h2>Delivered</h2>
    {deliveries.length === 0 && (
      <p className="card pad muted">
        {order.closed_at === null
          ? 'Nothing yet. This page shows it when it is there.'
          : 'Nothing was delivered.'}
      </p>
    )}
    {deliveries.toReversed().map(({ n, note, at, deliverables }) => (
      <article className="card" key={n}>
        <header>
          <h3>{deliveries.length === 1 ? 'Delivery' : `Delivery ${n}`}</h3>
          <span className="push">{time(at)}</span>
        </header>
        <div className="pad stack">
          {note !== null && <p className="bubble lines">{note}</p>}
          <Files deliverables={deliverables} />
        </div>
      </article>
    ))}
  </section>
)
