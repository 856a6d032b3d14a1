import { MarketError } from '@market/sdk/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { returnTo } from '../session/account-slot.tsx'
import { isSignedIn, meQuery } from '../session/me.ts'
import { Problem } from './problem.tsx'

/** What is shown instead of something private to a visitor who is not signed in. */
function SignedOut({ children }: { readonly children: ReactNode }) {
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (
    <div className="empty">
      <p>{children}</p>
      <Link className="btn primary" to="/sign-in" search={returnTo(path)}>
        Sign in
      </Link>
    </div>
  )
}

interface NotReadProps {
  readonly error: unknown
  readonly onRetry: () => void
  /** What a visitor reads who may be signed in as somebody else. */
  readonly missing?: ReactNode
}

const NO_ORDER =
  'There is no order of yours at this address. Sign in with the account or wallet that ordered it.'

/** Something private could not be read. */
export function NotRead({ error, onRetry, missing = NO_ORDER }: NotReadProps) {
  if (error instanceof MarketError && (error.status === 404 || error.status === 401))
    return <SignedOut>{missing}</SignedOut>
  return (
    <div className="stack">
      <Problem error={error} />
      <button className="btn" type="button" onClick={onRetry}>
        Try now
      </button>
    </div>
  )
}

/** Has about the height of what is loaded. */
export const Loading = () => (
  <div className="stack" aria-busy="true">
    <span className="visually-hidden">Loading</span>
    {['first', 'second', 'third'].map((row) => (
      <div className="sk-row" key={row}>
        <span className="sk w30" />
        <span className="stack-2">
          <span className="sk w70" />
          <span className="sk w45" />
        </span>
      </div>
    ))}
    <noscript>
      <p className="banner">
        What is yours is shown by JavaScript: the server draws pages without your cookies.
      </p>
    </noscript>
  </div>
)

interface PrivateProps {
  /** What a visitor who is not signed in reads. */
  readonly signedOut: ReactNode
  readonly children: ReactNode
}

/** Shows something private once the browser knows who is signed in. */
export function Private({ signedOut, children }: PrivateProps) {
  const context = useRouteContext({ from: '__root__' })
  const { data: me, error, refetch } = useQuery(meQuery(context))
  if (me === undefined)
    return error === null ? <Loading /> : <NotRead error={error} onRetry={() => void refetch()} />
  return isSignedIn(me) ? children : <SignedOut>{signedOut}</SignedOut>
}
