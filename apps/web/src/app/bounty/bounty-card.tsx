import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { ClockBox } from '../order/question-card.tsx'
import { useNow } from '../parts/now.tsx'
import { type BountyPage, waitingOf } from './bounty-page.ts'
import { bountyQuestionOf } from './bounty-question.ts'

interface BountyCardProps {
  readonly page: BountyPage
  /** What the viewer can do. */
  readonly children?: ReactNode
}

/** What a bounty is about now, with the order that it led to. */
export function BountyCard({ page, children }: BountyCardProps) {
  const now = useNow()
  const { title, text, clock } = bountyQuestionOf(page)
  const question = useRef<HTMLHeadingElement>(null)
  const asked = useRef(title)
  // The button that changed it, or that opened its dialog, is gone: what is asked then has the focus.
  useEffect(() => {
    if (asked.current === title || document.activeElement !== document.body) return
    asked.current = title
    question.current?.focus({ preventScroll: true })
  })
  const { confirmations = null, required = null } = waitingOf(page) ?? {}
  return (
    <section className="card act">
      <div className="pad stack">
        <div className="between act-top">
          <div className="stack-2">
            <h2 ref={question} tabIndex={-1}>
              {title}
            </h2>
            <p className="muted">{text}</p>
          </div>
          {clock !== undefined && <ClockBox clock={clock} now={now} />}
        </div>
        {confirmations !== null && required !== null && (
          <progress
            className="bar"
            max={required}
            value={Math.min(confirmations, required)}
            aria-label={`${confirmations} of ${required} confirmations`}
          />
        )}
        {page.order_id !== null && (
          <div className="acts">
            <Link className="btn primary lg" to="/orders/$order" params={{ order: page.order_id }}>
              Open the order
            </Link>
          </div>
        )}
        {children}
      </div>
    </section>
  )
}
