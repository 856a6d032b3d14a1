import type { Operations } from '@market/sdk'
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { shortened } from '../format.ts'
import type { PageContext } from '../market.ts'

export type Me = Operations['getMe']['data']

const FRESH_MS = 60_000

export const meQuery = ({ market }: PageContext) =>
  queryOptions({
    queryKey: ['me'],
    staleTime: FRESH_MS,
    retry: 1,
    queryFn: async (): Promise<Me> => (await market.getMe()) as Me,
  })

/** Who is signed in. The server draws pages without it, so it is undefined at first. */
export function useMe(): Me | undefined {
  const context = useRouteContext({ from: '__root__' })
  return useQuery(meQuery(context)).data
}

export const isSignedIn = (me: Me | undefined): me is Me => me?.kind === 'user' || me?.kind === 'wallet'

/** Tells one viewer from another, so that the tabs of two of them do not share what they read. */
export const keyOf = ({ user, wallet }: Me): string => user?.idp_user_id ?? wallet?.address ?? ''

export function nameOf({ user, wallet }: Me): string {
  if (wallet !== null) return shortened(wallet.address)
  return user?.display_name ?? user?.username ?? user?.google_email ?? 'Your account'
}

/** What one viewer read, by the first part of its key. */
const PRIVATE = [
  'order',
  'orders',
  'messages',
  'notifications',
  'spending',
  'receipt',
  'own-bounty',
  'my-bounties',
] as const

/** Forgets what was read for a viewer who is not signed in any more. */
export function forgetPrivate(queryClient: QueryClient): void {
  for (const key of PRIVATE) queryClient.removeQueries({ queryKey: [key] })
}

/** A path of this site; another text leads to the orders. */
export const ownPath = (text: string | undefined): string =>
  text !== undefined && /^\/(?![/\\])/.test(text) ? text : '/orders'
