import type { CallOptions } from '@market/sdk'
import type { Client } from '@market/sdk/client'
import { useRouteContext } from '@tanstack/react-router'
import { isSignedIn, useMe } from './me.ts'
import { signerFor } from './wallet.ts'

/** How the viewer changes something: a user by the session, a wallet by a signature for each change. */
export function useCalls() {
  const { market } = useRouteContext({ from: '__root__' })
  const me = useMe()
  const wallet = isSignedIn(me) && me.kind === 'wallet' ? me.wallet : null
  return {
    isSigned: wallet !== null,
    call: async <Result>(run: (market: Client, options: CallOptions) => Promise<Result>): Promise<Result> =>
      run(market, wallet === null ? {} : { cosigner: await signerFor(wallet.address) }),
  }
}
