import { formatUsd } from '@market/kernel/money'
import {
  DISCOVERY_EXTENSION,
  type ForSale,
  oneLine,
  requirementsOf,
  serviceName,
  tagsOf,
} from '@market/trade/x402'
import { payUrl } from './present-payable.ts'

/** A service as catalogues of other people show it. */
export interface CatalogItem {
  readonly id: string
  readonly category: string
  readonly title: string
  /** What its seller says of it, on one line. */
  readonly line: string
  /** The title in at most 32 plain letters. */
  readonly name: string
  readonly tags: readonly string[]
  /** What a program pays. */
  readonly priceUsd: string
  /** What version 2 of the protocol asks for. */
  readonly accepts: readonly Requirement[]
  readonly resource: string
  readonly payUrl: string
  /** What it takes and gives, in the words of the Bazaar. */
  readonly declared: typeof DISCOVERY_EXTENSION
  readonly questions: ForSale['listing']['requirementFields']
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
  questions: listing.requirementFields,
  updatedAt: listing.updatedAt.toISOString(),
})

/** What a 402 says of this very moment would be stale in a catalogue. */
function lasting(requirement: Requirement): Requirement {
  const { recentBlockhash: _hash, lastValidBlockHeight: _height, ...extra } = requirement.extra
  return { ...requirement, extra }
}
