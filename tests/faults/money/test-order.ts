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
  /** With `pay`: the transfer that was named. */
  readonly reference?: string | undefined
}

/** A transfer that the buyer sent, or a payment that the buyer signed and the application brings to the chain. */
export type PaidBy = 'transfer' | 'signature'

/** What the clients of the test know of one order: its parties, transfers and responses. */
export interface TestOrder {
  readonly n: number
  /** The Idempotency-Key of its making, which its brief names too. */
  readonly key: string
  readonly buyer: Buyer
  readonly seller: Seller
  readonly listing: Listing
  readonly network: Network
  readonly random: () => number
  /** How a program paid that purchased with the request itself; undefined for orders that are made first and paid then. */
  readonly paidBy: PaidBy | undefined
  /** Undefined until a response returned the id. */
  orderId: string | undefined
  /** What left the buyer's wallet for it, newest last. */
  readonly sent: Prepared[]
  readonly acknowledged: Acknowledged[]
}

/** Its text identifies an order whose id was never returned. */
export const briefOf = ({ key }: Pick<TestOrder, 'key'>): string =>
  `Please look at the branch of order ${key}.`
