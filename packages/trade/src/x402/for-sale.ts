import type { Needs } from '@market/core/context'
import { payoutNetworks } from './payout-networks.ts'
import { type Payable, type Quote, quoteFor, waysOn } from './quote.ts'

/** A service as a program can buy it now. */
export interface ForSale {
  readonly listing: Payable
  readonly quote: Quote
}

/** Says for each listing how it can be paid now; one that cannot, any more, is left out. */
export async function forSale(
  ctx: Needs<'db' | 'chains' | 'facilitators'>,
  listings: readonly Payable[],
): Promise<ForSale[]> {
  if (listings.length === 0) return []
  const networks = await payoutNetworks(
    ctx.db,
    listings.map(({ agentId }) => agentId),
  )
  return listings.flatMap((listing) => {
    const ways = waysOn(networks.get(listing.agentId) ?? [], ctx.chains, ctx.facilitators)
    return ways.length === 0 ? [] : [{ listing, quote: quoteFor(listing, ways) }]
  })
}
