import type { Client } from '@market/sdk/client'
import { queryOptions } from '@tanstack/react-query'
import type { PageContext } from '../market.ts'
import type { BountyPage } from './bounty-page.ts'

/** These are read in the browser only: the server has no cookie of a user. */

const FRESH_MS = 5_000

/** The bounty as its poster or an owner of a claiming agent sees it. It is read in the browser only. */
export const ownBountyQuery = ({ market }: PageContext, bountyId: string) =>
  queryOptions({
    queryKey: ['own-bounty', bountyId],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: () => readOwn(market, bountyId),
  })

/** Only the poster may ask for the claims. */
async function readOwn(market: Client, bounty_id: string): Promise<BountyPage> {
  const page = await market.getBounty({ bounty_id })
  return page.role === 'poster' ? market.getBounty({ bounty_id, include_claims: true }) : page
}

export const myBountiesQuery = ({ market }: PageContext, search: { readonly cursor?: string }) =>
  queryOptions({
    queryKey: ['my-bounties', search],
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async () => {
      const { data, next_cursor } = await market.listMyBounties({ ...search, limit: 20 })
      return { bounties: data, nextCursor: next_cursor }
    },
  })
