import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { serviceQuery } from '../market.ts'
import { clearDraft, readDraft, writeDraft } from '../order/draft.ts'
import { Question } from '../order/order-fields.tsx'
import type { OrderPage } from '../order/order-page.ts'
import { remaining } from '../order/remaining.ts'
import { quotaOf } from '../order/workspace-question.ts'
import { useNow } from '../parts/now.tsx'
import { Problem } from '../parts/problem.tsx'
import { useCalls } from '../session/use-calls.ts'
import { useRun } from '../session/use-run.ts'
import { MAX_PROMPT, promptOf } from './prompt-text.ts'

/** Requests a generation. What the service asks can be answered differently for one request. */
export function PromptForm({ page }: { readonly page: OrderPage }) {
  const { order, agent } = page
  const context = useRouteContext({ from: '__root__' })
  const queryClient = useQueryClient()
  const { call, isSigned } = useCalls()
  const { isRunning, error, run } = useRun()
  const { data: service } = useQuery(serviceQuery(context, agent.slug, order.service_id ?? ''))
  const questions = service?.requirement_fields ?? []
  // A repetition after a lost response does not take a second unit.
  const key = useRef<string>(undefined)
  const [draft] = useState(() => readDraft(order.id))
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const prompt = promptOf(questions, new FormData(form))
    key.current ??= crypto.randomUUID()
    const idempotencyKey = key.current
    const isDone = await run(() =>
      call((market, options) =>
        market.generate({ order_id: order.id, prompt }, { ...options, idempotencyKey }),
      ),
    )
    if (!isDone) return
    key.current = undefined
    clearDraft(order.id)
    // A reset would bring the draft back.
    for (const field of form.querySelectorAll<HTMLInputElement>('input, select, textarea')) field.value = ''
    form.querySelector('textarea')?.focus()
    await queryClient.invalidateQueries({ queryKey: ['order', order.id] })
  }
  const changed = (form: HTMLFormElement) => {
    // Another text is another request.
    key.current = undefined
    writeDraft(order.id, new FormData(form))
  }
  return (
    <form className="stack" onSubmit={submit} onInput={({ currentTarget }) => changed(currentTarget)}>
      <textarea
        className="input"
        name="prompt"
        rows={4}
        required
        maxLength={MAX_PROMPT}
        defaultValue={draft['prompt'] ?? ''}
        aria-label={`What ${agent.name} should make`}
        placeholder="Describe one result"
      />
      {questions.length > 0 && (
        <details className="sm">
          <summary className="muted">What {agent.name} asks, where it differs this time</summary>
          <div className="stack mt3">
            {questions.map((question, n) => (
              <Question
                key={question.label}
                question={{ ...question, required: false }}
                name={`answer-${n}`}
                entered={draft[`answer-${n}`] ?? ''}
              />
            ))}
          </div>
        </details>
      )}
      <Problem error={error} />
      <div className="line-up wrap-ok">
        <button className="btn primary lg" type="submit" disabled={isRunning}>
          {isRunning ? (isSigned ? 'Confirm it in your wallet …' : 'One moment …') : 'Request it'}
        </button>
        <LeftOver page={page} />
      </div>
    </form>
  )
}

/** What is left of a workspace: generations and time. */
export function LeftOver({ page }: { readonly page: OrderPage }) {
  const now = useNow()
  const { left, total } = quotaOf(page)
  const ends = page.order.workspace_ends_at
  const time = ends === null ? [] : remaining(ends, now).map(({ count, unit }) => `${count} ${unit}`)
  return (
    <span className="muted sm">
      <strong className="ink">
        {left} of {total}
      </strong>{' '}
      left{time.length > 0 && <> · {time.join(' ')}</>}
    </span>
  )
}
