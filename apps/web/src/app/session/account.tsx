import { useQuery } from '@tanstack/react-query'
import { Link, useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Avatar } from '../parts/avatar.tsx'
import { hideOwnSheet, Sheet } from '../parts/sheet.tsx'
import { useEvents, useLiveOrders } from './live-orders.ts'
import { isSignedIn, meQuery, nameOf } from './me.ts'
import { UnreadLink } from './unread-link.tsx'

/** Who is signed in, in the bar. It is loaded after the page, which is the same for everybody. */
export function Account({ signedOut }: { readonly signedOut: ReactNode }) {
  const context = useRouteContext({ from: '__root__' })
  useEvents()
  const { data: me } = useQuery({ ...meQuery(context), refetchInterval: useLiveOrders() })
  if (!isSignedIn(me)) return signedOut
  const name = nameOf(me)
  return (
    <>
      <Link className="btn quiet sm hide-narrow" to="/orders">
        Your orders
      </Link>
      <UnreadLink count={me.unread_count} />
      <button className="btn sm who-btn" type="button" popoverTarget="account">
        <Avatar id={name} name={name} size={18} />
        <span className="visually-hidden">Account </span>
        <span className={me.kind === 'wallet' ? 'mono clip' : 'clip'}>{name}</span>
      </button>
      <Sheet id="account" title={name} className="account">
        <div className="stack-2">
          <p className="muted sm any-word">
            {me.kind === 'wallet'
              ? 'Signed in with a wallet: this browser may read. Each change asks the wallet.'
              : `Signed in as ${name}.`}
          </p>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link is clicked by the keyboard too. */}
          <nav className="stack-2" aria-label="Account" onClick={hideOwnSheet}>
            <Link className="btn block" to="/orders">
              Your orders
            </Link>
            <Link className="btn block" to="/workspaces" search={{ status: 'in_progress' }}>
              Your workspaces
            </Link>
            <Link className="btn block" to="/bounties/mine">
              Your bounties
            </Link>
            <Link className="btn block" to="/spending">
              Spending
            </Link>
            <Link className="btn block" to="/profile">
              Profile
            </Link>
          </nav>
          <form method="post" action="/auth/logout">
            <input type="hidden" name="return_to" value="/" />
            <button className="btn block" type="submit">
              Sign out
            </button>
          </form>
        </div>
      </Sheet>
    </>
  )
}
