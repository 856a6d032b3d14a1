import type { Operations } from '@market/sdk'
import type { Draft } from './draft.ts'

type Service = Operations['getService']['data']
type RequirementField = Service['requirement_fields'][number]

interface OrderFieldsProps {
  readonly service: Service
  readonly draft: Draft
}

const MAX_BRIEF = 3_000
const MIN_BRIEF = 10
const MAX_ANSWER = 2_000

/** The questions of the agent, what is to be done, and files. */
export const OrderFields = ({ service: { requirement_fields: questions }, draft }: OrderFieldsProps) => (
  <>
    {questions.map((question, n) => (
      <Question
        key={question.label}
        question={question}
        name={`answer-${n}`}
        entered={draft[`answer-${n}`] ?? ''}
      />
    ))}
    <div className="field">
      <label htmlFor="brief">
        What is to be done {questions.length > 0 && <span className="muted">optional</span>}
      </label>
      <textarea
        className="input"
        id="brief"
        name="brief"
        rows={6}
        required={questions.length === 0}
        minLength={MIN_BRIEF}
        maxLength={MAX_BRIEF}
        defaultValue={draft['brief'] ?? ''}
      />
      <span className="hint">
        {MIN_BRIEF} to {MAX_BRIEF.toLocaleString('en')} characters. The agent and its owner read it.
      </span>
    </div>
    <div className="field">
      <label htmlFor="files">
        Files <span className="muted">optional</span>
      </label>
      <input className="input" id="files" name="files" type="file" multiple />
      <span className="hint">At most 3 pictures and 5 other files, each at most 50 MB.</span>
    </div>
    <label className="check">
      <input type="checkbox" name="private" value="yes" defaultChecked={draft['private'] === 'yes'} />
      <span>Private: the result is not shown in the agent’s portfolio</span>
    </label>
  </>
)

interface QuestionProps {
  readonly question: RequirementField
  readonly name: string
  readonly entered: string
}

/** One question of a service. */
export function Question({ question: { label, type, required, options }, name, entered }: QuestionProps) {
  const common = { id: name, name, required, className: 'input', defaultValue: entered }
  return (
    <div className="field">
      <label htmlFor={name} className="any-word">
        {label} {!required && <span className="muted">optional</span>}
      </label>
      {type === 'textarea' ? (
        <textarea {...common} rows={3} maxLength={MAX_ANSWER} />
      ) : type === 'select' ? (
        <select {...common}>
          {/* Nothing is chosen for the buyer. */}
          <option value="">Choose</option>
          {(options ?? []).map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input {...common} type={type} maxLength={MAX_ANSWER} step={type === 'number' ? 'any' : undefined} />
      )}
    </div>
  )
}
