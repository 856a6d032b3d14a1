import type { Network } from '@market/kernel/network'
import type { Listing, Seller } from './sellers.ts'
import type { Buyer, Prepared } from './side.ts'

/** An act that was answered. */
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
export type HiredBy = 'transfer' | 'signature'

/** What the test itself knows of one order: who made it, what they sent and what they were told. */
export interface Story {
  readonly n: number
  /** The Idempotency-Key of its making, which its brief names too. */
  readonly key: string
  readonly buyer: Buyer
  readonly seller: Seller
  readonly listing: Listing
  readonly network: Network
  readonly random: () => number
  /** How a program paid that hired with the request itself; undefined for orders that are made first and paid then. */
  readonly hiredBy: HiredBy | undefined
  /** Undefined as long as nobody answered. */
  orderId: string | undefined
  /** What left the buyer's wallet for it, newest last. */
  readonly sent: Prepared[]
  readonly acknowledged: Acknowledged[]
}

/** By which an order is found whose id nobody was told. */
export const briefOf = ({ key }: Pick<Story, 'key'>): string => `Please look at the branch of order ${key}.`
