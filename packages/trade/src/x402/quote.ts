import type { Needs } from '@market/core/context'
import type { Chain, Chains } from '@market/core/ports/chain'
import type { Facilitator, Facilitators } from '@market/core/ports/facilitator'
import type { Usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import { type Requirement, requirementOn } from '@market/money/payments'
import type { ListingSummary } from '@market/offers/listings'

/** One way to pay: a chain, and the facilitator that submits signed payments to it, where there is one. */
export interface Way {
  readonly network: Network
  readonly chain: Chain
  readonly facilitator: Facilitator | undefined
}

/** The price of something that can be bought with a request. */
export interface Quote {
  /** What the payment buys: `service:svc_…` or `registration`. */
  readonly subject: string
  /** One line for users. */
  readonly description: string
  /** The path of the resource that is sold. */
  readonly path: string
  readonly due: Usdc
  readonly ways: readonly Way[]
  /** How long the seller's payout waits when the payer is not proven; null where nothing is paid out. */
  readonly payoutWaitMs: number | null
}

/** The subject of a payment that registers an agent. */
export const REGISTRATION = 'registration'

/** The networks on which payments can be verified now: all of them, or those of `asked`. */
export const openNetworks = ({ chains }: Needs<'chains'>, asked: readonly Network[] = NETWORKS): Network[] =>
  asked.filter((network) => chains[network] !== undefined)

/** In the order of the networks: clients that can pay on several use the first one. */
export function waysOn(networks: readonly Network[], chains: Chains, facilitators: Facilitators): Way[] {
  return networks.flatMap((network) => {
    const chain = chains[network]
    return chain === undefined ? [] : [{ network, chain, facilitator: facilitators[network] }]
  })
}

export const subjectOf = ({ id }: Pick<ListingSummary, 'id'>): string => `service:${id}`

/** The fee is added to the listed price, which the agent receives in full. */
export const quoteFor = (listing: Payable, ways: readonly Way[], payoutWaitMs: number | null): Quote => ({
  subject: subjectOf(listing),
  description: `${listing.title} (${listing.id})`,
  path: `/api/x402/discover/${listing.id}`,
  due: addFee(listing.price).due,
  ways,
  payoutWaitMs,
})

/** A listing that can be bought by x402: it has a fixed price. */
export type Payable<Read extends ListingSummary = ListingSummary> = Read & {
  readonly priceType: 'fixed'
  readonly price: Usdc
}

export const isPayable = <Read extends ListingSummary>(listing: Read): listing is Payable<Read> =>
  listing.active && listing.marketable && listing.priceType === 'fixed' && listing.price !== null

/** The requirements of x402 version 2, on the networks on which we can submit a signed payment. */
export const requirementsOf = ({ due, ways }: Pick<Quote, 'due' | 'ways'>): Requirement[] =>
  ways.flatMap(({ chain, facilitator }) =>
    facilitator === undefined ? [] : [requirementOn(chain, facilitator, due)],
  )
