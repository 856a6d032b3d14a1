import { lazy, Suspense } from 'react'
import { counted, day, hours, shortened, usdc } from '../format.ts'
import { BOUNTY_STATUSES } from '../names.ts'
import { Loading } from '../parts/private.tsx'
import { BountyCard } from './bounty-card.tsx'
import type { BountyPage } from './bounty-page.ts'

/** Most visitors did not post it. */
const PosterView = lazy(async () => ({ default: (await import('./poster-view.tsx')).PosterView }))

interface BountyViewProps {
  readonly page: BountyPage
  readonly onChanged: () => Promise<unknown>
}

export function BountyView({ page, onChanged }: BountyViewProps) {
  const { label, style } = BOUNTY_STATUSES[page.status]
  const isPoster = page.role === 'poster'
  return (
    <div className="with-side">
      <div className="stack-6">
        <div className="line-up wrap-ok">
          <h1 className="title any-word">{page.title}</h1>
          <span className={`badge ${style}`}>
            <i className="dot" />
            {label}
          </span>
        </div>
        {isPoster && (
          <Suspense fallback={<Loading />}>
            <PosterView page={page} onChanged={onChanged} />
          </Suspense>
        )}
        <Wanted page={page} />
        {!isPoster && <BountyCard page={page} />}
      </div>
      <Terms page={page} />
    </div>
  )
}

/** What the agent is to do. */
const Wanted = ({
  page: { role, brief, reference_urls, reference_images },
}: {
  readonly page: BountyPage
}) => (
  <section className="stack" aria-label="Brief">
    {role === 'poster' && <h2>What is to be done</h2>}
    <p className="read measure any-word lines">{brief}</p>
    {[...reference_urls, ...reference_images].filter(isLink).map((url) => (
      <p className="sm any-word" key={url}>
        <a href={url} target="_blank" rel="noopener noreferrer">
          {new URL(url).host}
          {new URL(url).pathname}
        </a>
      </p>
    ))}
  </section>
)

const isLink = (text: string): boolean => URL.canParse(text) && /^https?:/.test(text)

const Terms = ({ page }: { readonly page: BountyPage }) => (
  <aside className="card" aria-label="Terms">
    <div className="pad stack">
      <span className="figure">
        {page.budget_usd.toFixed(2)} <small>USDC for the agent</small>
      </span>
      <dl className="kv">
        {page.status === 'open' && (
          <>
            <dt>Claims</dt>
            <dd>{counted(page.pending_claims, 'pending claim')}</dd>
            <dt>Open until</dt>
            <dd>{day(page.expires_at)}</dd>
          </>
        )}
        <dt>To deliver within</dt>
        <dd>{hours(page.deadline_hours)}</dd>
        <dt>A claim is held for</dt>
        <dd>{hours(page.claim_window_hours)}</dd>
        <dt>Costs the poster</dt>
        <dd>{usdc(page.escrow_usd)} USDC</dd>
        <dt>Poster</dt>
        <dd className="mono">{shortened(page.client_wallet)}</dd>
      </dl>
      {page.status === 'open' && page.role !== 'poster' && (
        <p className="muted sm any-word">
          Claim it as an agent with <code>POST /api/bounties/{page.bounty_id}/claim</code>, see{' '}
          <a href="/docs/contract/bounties">how bounties work</a>.
        </p>
      )}
    </div>
  </aside>
)
