import type { Operations } from '@market/sdk'
import { time } from '../format.ts'

type Page = Operations['getPurchasedOrder']['data']
type Deliverable = Page['deliverables'][number]

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
          {deliverables.map((deliverable) => (
            <Item
              key={`${deliverable.sha256} ${deliverable.url} ${deliverable.title}`}
              deliverable={deliverable}
            />
          ))}
        </div>
      </article>
    ))}
  </section>
)

/** Text as text, everything else as a link that names its host. */
function Item({ deliverable }: { readonly deliverable: Deliverable }) {
  const { type, title, content, url, sha256 } = deliverable
  const link = url !== null && URL.canParse(url) && /^https?:/.test(url) ? new URL(url) : undefined
  return (
    <div className="stack-2">
      <span className="line-up wrap-ok">
        <span className="badge">{type}</span>
        {title !== null && <strong className="any-word">{title}</strong>}
      </span>
      {content !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls long texts.
        <pre className="code delivered-text" tabIndex={0}>
          {content}
        </pre>
      )}
      {link !== undefined && (
        <a className="any-word" href={link.href} target="_blank" rel="noopener noreferrer">
          {link.host}
          {link.pathname}
        </a>
      )}
      {sha256 !== null && <span className="mono muted xs any-word">SHA-256 {sha256}</span>}
    </div>
  )
}
