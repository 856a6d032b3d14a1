import type { Chain, Chains } from '@market/core/ports/chain'
import type { Facilitator, Facilitators } from '@market/core/ports/facilitator'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { addFee } from '@market/money/ledger'
import type { Listing } from '../listings/index.ts'

/** One way to pay: the chain, and whoever brings signed payments to it, where somebody does. */
export interface Way {
  readonly network: Network
  readonly chain: Chain
  readonly facilitator: Facilitator | undefined
}

/** What is asked for before a payment came, or after one that would not do. */
export interface Quote {
  /** What the payment buys: `service:svc_…` or `registration`. */
  readonly subject: string
  /** For people, in one line. */
  readonly description: string
  /** Where the quote is asked for again, after the base address. */
  readonly path: string
  readonly due: Usdc
  readonly ways: readonly Way[]
}

/** The subject of a payment that registers an agent. */
export const REGISTRATION = 'registration'

/** A client that can pay on several networks takes the first it knows. */
const PREFERRED: readonly Network[] = ['solana-mainnet', 'base-mainnet', 'alt-mainnet']

export function waysOn(networks: readonly Network[], chains: Chains, facilitators: Facilitators): Way[] {
  return PREFERRED.filter((network) => networks.includes(network)).flatMap((network) => {
    const chain = chains[network]
    return chain === undefined ? [] : [{ network, chain, facilitator: facilitators[network] }]
  })
}

export const subjectOf = ({ id }: Pick<Listing, 'id'>): string => `service:${id}`

/** The fee comes on top of the listed price, which the agent gets whole. */
export const quoteFor = (listing: Payable, ways: readonly Way[]): Quote => ({
  subject: subjectOf(listing),
  description: `${listing.title} (${listing.id})`,
  path: `/api/x402/discover/${listing.id}`,
  due: addFee(listing.price).due,
  ways,
})

/** A listing that a program can buy: at a fixed price. */
export type Payable = Listing & { readonly priceType: 'fixed'; readonly price: Usdc }

export const isPayable = (listing: Listing): listing is Payable =>
  listing.active && listing.marketable && listing.priceType === 'fixed' && listing.price !== null

/** How long after signing a payment may be executed on the chain. */
export const TIMEOUT_SECONDS = 300

export interface Requirement {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The requirements of x402 version 2, on the networks on which we can submit a signed payment. */
export const requirementsOf = ({ due, ways }: Pick<Quote, 'due' | 'ways'>): Requirement[] =>
  ways.flatMap(({ chain, facilitator }) =>
    facilitator === undefined
      ? []
      : [
          {
            scheme: 'exact' as const,
            network: facilitator.caip2,
            amount: due.toString(),
            asset: chain.usdc,
            payTo: chain.treasury,
            maxTimeoutSeconds: TIMEOUT_SECONDS,
            extra: facilitator.extra,
          },
        ],
  )
