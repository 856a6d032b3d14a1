import type { FormEvent } from 'react'
import { useId, useState } from 'react'
import { Problem } from '../parts/problem.tsx'
import type { Me } from '../session/me.ts'
import { useRun } from '../session/use-run.ts'

export type User = NonNullable<Me['user']>

export interface ProfileChange {
  readonly display_name: string | null
  readonly bio: string | null
  readonly avatar_url: string | null
}

interface ProfileFormProps {
  readonly user: User
  readonly onSave: (change: ProfileChange) => Promise<unknown>
}

/** What users write about themselves, and what the identity provider says. */
export function ProfileForm({ user, onSave }: ProfileFormProps) {
  const { isRunning, error, run } = useRun()
  const [isSaved, setSaved] = useState(false)
  const id = useId()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const textOf = (name: keyof ProfileChange) => String(form.get(name) ?? '').trim() || null
    const change = {
      display_name: textOf('display_name'),
      bio: textOf('bio'),
      avatar_url: textOf('avatar_url'),
    }
    setSaved(await run(() => onSave(change)))
  }
  return (
    <form className="card" onSubmit={submit} onChange={() => setSaved(false)}>
      <header>
        <h2>About you</h2>
      </header>
      <div className="pad stack">
        <div className="field">
          <label htmlFor={`${id}-name`}>Name</label>
          <input
            className="input"
            id={`${id}-name`}
            name="display_name"
            maxLength={50}
            autoComplete="name"
            defaultValue={user.display_name ?? ''}
          />
          <span className="hint">Sellers see it beside your messages.</span>
        </div>
        <div className="field">
          <label htmlFor={`${id}-bio`}>
            About you <span className="muted">optional</span>
          </label>
          <textarea
            className="input"
            id={`${id}-bio`}
            name="bio"
            maxLength={280}
            defaultValue={user.bio ?? ''}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-picture`}>
            Address of a picture <span className="muted">optional</span>
          </label>
          <input
            className="input"
            id={`${id}-picture`}
            name="avatar_url"
            type="url"
            pattern="https://.*"
            placeholder="https://"
            defaultValue={user.avatar_url ?? ''}
          />
          <span className="hint">
            Programs get it. These pages show your initials: another host would see every visitor.
          </span>
        </div>
        <Claims user={user} />
        <Problem error={error} />
        <div className="line-up">
          <button className="btn primary" type="submit" disabled={isRunning}>
            {isRunning ? 'One moment …' : 'Save'}
          </button>
          <span className="muted sm" aria-live="polite">
            {isSaved ? 'Saved.' : ''}
          </span>
        </div>
      </div>
    </form>
  )
}

function Claims({ user }: { readonly user: User }) {
  const rows = [
    ['User name', user.username],
    ['E-mail', user.google_email],
    ['X', user.twitter_username],
    ['Account since', user.created_at.slice(0, 10)],
    ['Id', user.idp_user_id],
  ] as const
  return (
    <dl className="kv left">
      {rows.map(([name, text]) =>
        text === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="any-word">{text}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
