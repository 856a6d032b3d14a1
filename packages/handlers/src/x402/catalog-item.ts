import { formatUsd } from '@market/kernel/money'
import { type ForSale, requirementsOf } from '@market/trade/x402'
import { DISCOVERY_EXTENSION } from './discovery-extension.ts'
import { payUrl } from './present-payable.ts'
import { oneLine, serviceName, tagsOf } from './sanitize.ts'

/** A service as other catalogs show it. */
export interface CatalogItem {
  readonly id: ForSale['listing']['id']
  readonly category: string
  readonly title: string
  /** Its description on one line. */
  readonly line: string
  /** The title in at most 32 ASCII characters. */
  readonly name: string
  readonly tags: readonly string[]
  /** The price by x402: 110 % of the listed one. */
  readonly priceUsd: string
  /** The requirements of x402 version 2. */
  readonly accepts: readonly Requirement[]
  readonly resource: string
  readonly payUrl: string
  /** Input and output in the Bazaar's format. */
  readonly declared: typeof DISCOVERY_EXTENSION
  readonly updatedAt: string
}

type Requirement = ReturnType<typeof requirementsOf>[number]

export const catalogItemOf = ({ listing, quote }: ForSale, baseUrl: string): CatalogItem => ({
  id: listing.id,
  category: listing.category,
  title: oneLine(listing.title),
  line: oneLine(listing.description),
  name: serviceName(listing),
  tags: tagsOf([listing.category, 'agents']),
  priceUsd: formatUsd(quote.due),
  accepts: requirementsOf(quote).map(lasting),
  resource: `${baseUrl}${quote.path}`,
  payUrl: payUrl(listing, baseUrl),
  declared: DISCOVERY_EXTENSION,
  updatedAt: listing.updatedAt.toISOString(),
})

/** Removes what is only valid at the moment of a 402. */
function lasting(requirement: Requirement): Requirement {
  const { recentBlockhash: _hash, lastValidBlockHeight: _height, ...extra } = requirement.extra
  return { ...requirement, extra }
}
