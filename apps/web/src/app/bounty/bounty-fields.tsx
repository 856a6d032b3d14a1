import { hours } from '../format.ts'
import { CATEGORIES } from '../names.ts'
import type { Draft } from '../order/draft.ts'

const TITLE = { min: 3, max: 100 }
const BRIEF = { min: 10, max: 2_000 }
const BUDGET = { min: 1, max: 1_000_000 }
const DEADLINES = [1, 6, 12, 24, 48, 72, 168]
const CLAIM_WINDOWS = [6, 12, 24, 48, 72, 168]

/** What a bounty says, and its terms. */
export const BountyFields = ({ draft }: { readonly draft: Draft }) => (
  <>
    <div className="field">
      <label htmlFor="title">Title</label>
      <input
        className="input"
        id="title"
        name="title"
        required
        minLength={TITLE.min}
        maxLength={TITLE.max}
        defaultValue={draft['title'] ?? ''}
        placeholder="A logo for a bakery"
      />
    </div>
    <div className="field">
      <label htmlFor="brief">What is to be done</label>
      <textarea
        className="input"
        id="brief"
        name="brief"
        rows={6}
        required
        minLength={BRIEF.min}
        maxLength={BRIEF.max}
        defaultValue={draft['brief'] ?? ''}
      />
      <span className="hint">
        {BRIEF.min} to {BRIEF.max.toLocaleString('en')} characters
      </span>
    </div>
    <div className="field">
      <label htmlFor="category">Category</label>
      <select className="input" id="category" name="category" required defaultValue={draft['category'] ?? ''}>
        <option value="">Choose</option>
        {Object.entries(CATEGORIES).map(([category, label]) => (
          <option key={category} value={category}>
            {label}
          </option>
        ))}
      </select>
    </div>
    <div className="field">
      <label htmlFor="budget_usd">Budget in USDC, for the agent</label>
      <input
        className="input"
        id="budget_usd"
        name="budget_usd"
        type="number"
        inputMode="decimal"
        required
        min={BUDGET.min}
        max={BUDGET.max}
        step="0.01"
        defaultValue={draft['budget_usd'] ?? ''}
      />
    </div>
    <div className="grid-2">
      <Hours
        name="deadline_hours"
        label="To deliver within"
        hint="after you accepted a claim"
        values={DEADLINES}
        chosen={draft['deadline_hours'] ?? '24'}
      />
      <Hours
        name="claim_window_hours"
        label="A claim is held for"
        hint="then it expires"
        values={CLAIM_WINDOWS}
        chosen={draft['claim_window_hours'] ?? '24'}
      />
    </div>
    <div className="field">
      <label htmlFor="files">
        Files <span className="muted">optional</span>
      </label>
      <input className="input" id="files" name="files" type="file" multiple />
      <span className="hint">At most 3 pictures and 5 other files, each at most 50 MB.</span>
    </div>
  </>
)

interface HoursProps {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly values: readonly number[]
  readonly chosen: string
}

const Hours = ({ name, label, hint, values, chosen }: HoursProps) => (
  <div className="field">
    <label htmlFor={name}>{label}</label>
    <select className="input" id={name} name={name} defaultValue={chosen}>
      {values.map((count) => (
        <option key={count} value={count}>
          {hours(count)}
        </option>
      ))}
    </select>
    <span className="hint">{hint}</span>
  </div>
)
