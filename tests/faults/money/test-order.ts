import type { Network } from '@market/kernel/network'
import type { Listing, Seller } from './sellers.ts'
import type { Buyer, Prepared } from './test-chain.ts'

/** A response to an action. */
export interface Acknowledged {
  readonly action: string
  readonly key: string
  readonly status: number
  readonly code: string | undefined
  /** The order's status in the answer; undefined in an error. */
  readonly said: string | undefined
  /** With `pay` and `accept_claim`: the transfer that was named. */
  readonly reference?: string | undefined
}

/**
 * A transfer that the buyer sent, a payment that the buyer signed and the application brings to the chain, or a transfer that
 * accepted a claim. In each case 10 % is paid on top of the price.
 */
export type PaidBy = 'transfer' | 'signature' | 'bounty'

export interface TestClaim {
  readonly id: string
  readonly seller: Seller
}

/** A bounty that becomes an order when a claim is accepted. */
export interface TestBounty {
  readonly id: string
  readonly claims: readonly TestClaim[]
}

/** USDC that the buyer deposits into Earn instead of ordering. */
export interface TestDeposit {
  readonly amount: bigint
  /** Whether all its shares were burned before the vault got interest. */
  hasLeftEarly: boolean
}

/** What the clients of the test know of one order: its parties, transfers and responses. */
export interface TestOrder {
  readonly n: number
  /** The Idempotency-Key of its making, which its brief names too. */
  readonly key: string
  readonly buyer: Buyer
  /** For a bounty: the agent whose claim was accepted, once it is known. */
  seller: Seller
  /** For a bounty: only its price, which is the budget. */
  readonly listing: Listing
  readonly network: Network
  readonly random: () => number
  /** How an order was paid that comes with its payment; undefined for orders that are made first and paid then. */
  readonly paidBy: PaidBy | undefined
  /** Undefined until a response returned the id. */
  orderId: string | undefined
  /** Undefined until a response returned its id. */
  bounty?: TestBounty
  /** Undefined for an order. */
  deposit?: TestDeposit
  /** What left the buyer's wallet for it, newest last. */
  readonly sent: Prepared[]
  readonly acknowledged: Acknowledged[]
}

/** Its text identifies an order whose id was never returned. */
export const briefOf = ({ key }: Pick<TestOrder, 'key'>): string =>
  `Please look at the branch of order ${key}.`
