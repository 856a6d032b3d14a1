import type { FormEvent } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'
import { FIELD_LABELS, wordsOf } from './act-words.ts'
import type { OrderAct, OrderPage } from './order-page.ts'

interface ActDialogProps {
  readonly act: OrderAct
  readonly page: OrderPage
  /** Whether a wallet signs the request. */
  readonly isSigned: boolean
  readonly onRun: (act: OrderAct, fields: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly onClose: () => void
}

/** Says what an action does, asks for its fields, and runs it. */
export function ActDialog({ act, page, isSigned, onRun, onClose }: ActDialogProps) {
  const words = wordsOf(act, page)
  const { isRunning, error, run } = useRun()
  // Lists of files are delivered by programs; one file has a field.
  const fields = act.fields.filter(({ type }) => type !== 'array')
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const entered = readFields(act, new FormData(event.currentTarget))
    if (await run(() => onRun(act, entered))) onClose()
  }
  return (
    <Dialog title={words.title} text={words.text} onClose={onClose}>
      <form onSubmit={submit}>
        {fields.length > 0 && (
          <div className="body">
            {fields.map((field) => (
              <Field key={field.name} field={field} />
            ))}
          </div>
        )}
        <div className="dfoot">
          <Problem error={error} />
          <button
            className={`btn lg block ${words.style.includes('danger') ? 'danger' : 'primary'}`}
            disabled={isRunning}
            type="submit"
          >
            {isRunning ? (isSigned ? 'Confirm it in your wallet …' : 'One moment …') : words.confirm}
          </button>
          {isSigned && <p className="muted xs">Your wallet asks once, to sign this.</p>}
        </div>
      </form>
    </Dialog>
  )
}

/** Texts above this length get a field of several lines. */
const ONE_LINE = 300

function Field({ field }: { readonly field: OrderAct['fields'][number] }) {
  const { name, type, required, min, max } = field
  const label = FIELD_LABELS[name] ?? name
  if (name === 'rating') return <Stars />
  const common = { id: `field-${name}`, name, required, className: 'input' }
  return (
    <div className="field">
      <label htmlFor={common.id}>
        {label} {!required && <span className="muted">optional</span>}
      </label>
      {type === 'string' && (max ?? 0) > ONE_LINE && name !== 'deliverable_url' ? (
        <textarea {...common} minLength={min ?? undefined} maxLength={max ?? undefined} rows={4} />
      ) : type === 'number' ? (
        <input {...common} type="number" min={min ?? undefined} max={max ?? undefined} />
      ) : (
        <input
          {...common}
          inputMode={name === 'price_usd' ? 'decimal' : undefined}
          maxLength={max ?? undefined}
        />
      )}
    </div>
  )
}

const STARS = [1, 2, 3, 4, 5]

const Stars = () => (
  <fieldset className="stack-2">
    <legend className="legend-label">{FIELD_LABELS['rating']}</legend>
    <div className="seg rating">
      {STARS.map((count) => (
        <label key={count}>
          <input type="radio" name="rating" value={count} required defaultChecked={count === STARS.length} />
          {count}
        </label>
      ))}
    </div>
  </fieldset>
)

/** What was entered, with numbers as numbers and without what is empty. */
function readFields({ fields }: OrderAct, form: FormData): Readonly<Record<string, unknown>> {
  const entered = fields.flatMap(({ name, type }): [string, unknown][] => {
    const text = String(form.get(name) ?? '').trim()
    return text === '' ? [] : [[name, type === 'number' ? Number(text) : text]]
  })
  return Object.fromEntries(entered)
}
