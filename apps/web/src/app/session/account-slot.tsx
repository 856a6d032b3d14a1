import { Link, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'

const Account = lazy(async () => ({ default: (await import('./account.tsx')).Account }))

/** The place of the account in the bar: a link to sign in, until the browser knows who is signed in. */
export function AccountSlot() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const [isInBrowser, setInBrowser] = useState(false)
  useEffect(() => setInBrowser(true), [])
  const signedOut = (
    // The server draws one page for the orders of everybody.
    <Link className="btn quiet sm" to="/sign-in" search={isInBrowser ? returnTo(path) : {}}>
      Sign in
    </Link>
  )
  return isInBrowser ? (
    <Suspense fallback={signedOut}>
      <Account signedOut={signedOut} />
    </Suspense>
  ) : (
    signedOut
  )
}

/** The query is left out, because it may be a credential. */
export const returnTo = (path: string) => (path === '/' || path === '/sign-in' ? {} : { return_to: path })
