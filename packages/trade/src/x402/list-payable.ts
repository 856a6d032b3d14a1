import type { Needs } from '@market/core/context'
import type { Network } from '@market/kernel/network'
import { browseListings } from '../listings/index.ts'
import { type ForSale, forSale } from './for-sale.ts'
import { openNetworks } from './open-networks.ts'
import { paidOnOneOf } from './payout-networks.ts'
import { isPayable } from './quote.ts'

export interface PayableAsked {
  readonly category?: string | undefined
  readonly search?: string | undefined
  /** Only what can be paid on one of these. */
  readonly networks?: readonly Network[] | undefined
  readonly limit: number
  readonly cursor?: string | undefined
  /** For readers that know no cursor; a search knows no other way. */
  readonly offset?: number | undefined
}

interface PayablePage {
  readonly found: readonly ForSale[]
  readonly nextCursor: string | null
}

/** What programs can buy: a search by how well it fits, everything else by distinct buyers. */
export async function listPayable(
  ctx: Needs<'db' | 'clock' | 'chains' | 'facilitators'>,
  { networks, ...asked }: PayableAsked,
): Promise<PayablePage> {
  const open = openNetworks(ctx, networks)
  if (open.length === 0) return { found: [], nextCursor: null }
  const page = await browseListings(ctx, { ...asked, priceType: 'fixed', also: paidOnOneOf(open) })
  const listings = page.found.map(({ listing }) => listing).filter(isPayable)
  return { found: await forSale(ctx, listings), nextCursor: page.nextCursor }
}
