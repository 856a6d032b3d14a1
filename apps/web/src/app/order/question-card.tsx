import { type ReactNode, useEffect, useRef, useState } from 'react'
import { shortTime } from '../format.ts'
import { useNow } from '../parts/now.tsx'
import { ActDialog } from './act-dialog.tsx'
import { buttonsOf, wordsOf } from './act-words.ts'
import type { Clock, OrderAct, OrderPage } from './order-page.ts'
import { possibleActs } from './order-page.ts'
import { questionOf } from './question.ts'
import { remaining } from './remaining.ts'

interface QuestionCardProps {
  readonly page: OrderPage
  readonly isSigned: boolean
  readonly onRun: (act: OrderAct, fields: Readonly<Record<string, unknown>>) => Promise<unknown>
  /** Opens the dialog of the payment. */
  readonly onPay: () => void
  /** What is asked for below the question. */
  readonly children?: ReactNode
}

/** One question, one clock, at most three buttons. */
export function QuestionCard({ page, isSigned, onRun, onPay, children }: QuestionCardProps) {
  const now = useNow()
  const [act, setAct] = useState<OrderAct>()
  const question = useRef<HTMLHeadingElement>(null)
  const { title, text, clock } = questionOf(page, now)
  const buttons = buttonsOf(possibleActs(page))
  const { pending_payment: pending } = page
  const close = () => setAct(undefined)
  /** What was asked when a dialog was opened, until another question follows. */
  const asked = useRef<string>(undefined)
  // The button that opened the dialog goes with it or a little later: what is asked then has the focus.
  useEffect(() => {
    if (act !== undefined) asked.current = title
    if (act !== undefined || asked.current === undefined) return
    if (document.activeElement === document.body) question.current?.focus()
    if (asked.current !== title) asked.current = undefined
  }, [act, title])
  const pay = () => {
    asked.current = title
    onPay()
  }
  return (
    <section className="card act">
      <div className="pad stack">
        <div className="between act-top">
          <div className="stack-2">
            <h2 ref={question} tabIndex={-1} className="any-word">
              {title}
            </h2>
            <p className="muted any-word lines">{text}</p>
          </div>
          {clock !== undefined && <ClockBox clock={clock} now={now} />}
        </div>
        {clock?.since != null && <Passed clock={clock} now={now} />}
        {pending?.confirmations != null && pending.required !== null && (
          <progress
            className="bar"
            max={pending.required}
            value={Math.min(pending.confirmations, pending.required)}
            aria-label={`${pending.confirmations} of ${pending.required} confirmations`}
          />
        )}
        {children}
        {buttons.length > 0 && (
          <div className="acts">
            {buttons.map((one) => (
              <ActButton
                key={one.action}
                act={one}
                page={page}
                onClick={() => (one.action === 'pay' ? pay() : setAct(one))}
              />
            ))}
          </div>
        )}
      </div>
      {act !== undefined && (
        <ActDialog act={act} page={page} isSigned={isSigned} onRun={onRun} onClose={close} />
      )}
    </section>
  )
}

interface ActButtonProps {
  readonly act: OrderAct
  readonly page: OrderPage
  readonly onClick?: () => void
}

function ActButton({ act, page, onClick }: ActButtonProps) {
  const { label, aside, style } = wordsOf(act, page)
  return (
    <button className={`btn lg ${style}`} type="button" onClick={onClick}>
      {label} {aside !== undefined && <span className="muted">{aside}</span>}
    </button>
  )
}

export function ClockBox({ clock: { label, at }, now }: { readonly clock: Clock; readonly now: number }) {
  return (
    <div className="clock-box">
      <span className="muted sm">{label}</span>
      <span className="figure" role="timer">
        {remaining(at, now).map(({ count, unit }) => (
          <span key={unit}>
            {count}
            <small>{unit}</small>{' '}
          </span>
        ))}
      </span>
      <span className="muted sm">
        until <time dateTime={at}>{shortTime(at)}</time>
      </span>
    </div>
  )
}

/** How much of the time has passed. */
function Passed({ clock: { at, since, label }, now }: { readonly clock: Clock; readonly now: number }) {
  const begun = Date.parse(since ?? at)
  const whole = Math.max(1, Date.parse(at) - begun)
  const passed = Math.min(whole, Math.max(0, now - begun))
  const percent = Math.round((passed / whole) * 100)
  return <progress className="bar" max={100} value={percent} aria-label={`${label}: ${percent} % passed`} />
}
