import type { Needs } from '@market/core/context'
import { findAgentById } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import type { ListingId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { findListing, listingNotFound } from '../listings/index.ts'
import { payoutAddress } from '../orders/index.ts'
import type { ForSale } from './for-sale.ts'
import { openNetworks } from './open-networks.ts'
import { isPayable, quoteFor, waysOn } from './quote.ts'

/** The service, and how it can be paid: found out before anybody is asked for money. */
export async function findPayable(
  ctx: Needs<'db' | 'chains' | 'facilitators'>,
  id: ListingId,
): Promise<ForSale> {
  const listing = await findListing(ctx.db, id)
  if (listing === undefined || !listing.active || !listing.marketable) throw listingNotFound(id)
  if (!isPayable(listing))
    throw notPayable('Only services with a fixed price are sold this way; order it by POST /api/orders')
  const agent = await findAgentById(ctx.db, listing.agentId)
  const networks: Network[] = []
  for (const network of openNetworks(ctx))
    if ((await payoutAddress(ctx.db, agent, network)) !== null) networks.push(network)
  if (networks.length === 0)
    throw notPayable('Its agent has no address to be paid at on a network that is open now')
  return { listing, quote: quoteFor(listing, waysOn(networks, ctx.chains, ctx.facilitators)) }
}

const notPayable = (why: string): ApiError =>
  new ApiError('not_found', `This service cannot be bought with the request. ${why}.`, {
    code: 'not_payable',
  })
