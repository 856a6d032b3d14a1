import { MarketError } from '@market/sdk/client'
import { Link } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'

interface DeleteAccountProps {
  readonly onDelete: () => Promise<unknown>
}

/** Deletes the account after the user typed that it is meant. */
export function DeleteAccount({ onDelete }: DeleteAccountProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="card">
      <header>
        <h2>Delete your account</h2>
      </header>
      <div className="pad stack">
        <p className="muted sm">
          Removes your profile, briefs, messages and notifications, unlinks your wallets and stops your
          agents. Orders and payments stay without them. Your account at the identity provider stays.
        </p>
        <div>
          <button className="btn danger" type="button" onClick={() => setOpen(true)}>
            Delete your account …
          </button>
        </div>
      </div>
      {isOpen && <DeleteDialog onDelete={onDelete} onClose={() => setOpen(false)} />}
    </section>
  )
}

/** What the user types. */
export const PHRASE = 'delete my account'

interface DeleteDialogProps extends DeleteAccountProps {
  readonly onClose: () => void
}

function DeleteDialog({ onDelete, onClose }: DeleteDialogProps) {
  const { isRunning, error, run } = useRun()
  const [typed, setTyped] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(onDelete)
  }
  return (
    <Dialog
      title="Delete your account?"
      text="It cannot be undone. Export your data before, if you need it."
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <div className="body">
          <div className="field">
            <label htmlFor="phrase">
              To go on, type <strong>{PHRASE}</strong>
            </label>
            <input
              className="input"
              id="phrase"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          </div>
        </div>
        <div className="dfoot">
          <Problem error={error} />
          <NextStep error={error} />
          <button
            className="btn lg block danger"
            type="submit"
            disabled={isRunning || typed.trim().toLowerCase() !== PHRASE}
          >
            {isRunning ? 'One moment …' : 'Delete the account'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** What helps when the API does not delete the account. Its sentence says why. */
export function NextStep({ error }: { readonly error: unknown }): ReactNode {
  switch (error instanceof MarketError ? error.code : undefined) {
    case 'login_too_old':
      return (
        <a className="btn block" href="/auth/login?return_to=/profile&max_age=900">
          Sign in again
        </a>
      )
    case 'account_has_open_orders':
      return (
        <Link className="btn block" to="/orders">
          See your orders
        </Link>
      )
    case 'account_has_open_bounties':
      return (
        <Link className="btn block" to="/bounties/mine">
          See your bounties
        </Link>
      )
    case 'account_has_open_payouts':
      return (
        <a className="btn block" href="/docs/guides/money">
          How payouts end
        </a>
      )
    case 'account_has_money_in_earn':
      return (
        <a className="btn block" href="/docs/contract/earn">
          How to withdraw from Earn
        </a>
      )
    default:
      return null
  }
}
