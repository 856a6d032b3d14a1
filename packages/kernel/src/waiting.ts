import type { Usdc } from './money.ts'
import type { Network } from './network.ts'

/** How many rows that wait for an operator are counted at most, so that an overview costs the same however many wait. */
export const COUNT_LIMIT = 1_000

/** What waits on one network, as far as it is counted. */
export interface WaitingMoney {
  readonly network: Network
  readonly count: number
  readonly amount: Usdc
  readonly oldest: Date
}
