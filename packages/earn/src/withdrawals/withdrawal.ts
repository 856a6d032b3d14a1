import type { Usdc } from '@market/kernel/money'

export type WithdrawalId = `ewd_${string}`

/**
 * `requested` until the worker burns the shares, which fixes the amount. Then `queued` until payouts of the whole amount were
 * requested: `settled`. `rejected`: nothing was burned.
 */
export type WithdrawalStatus = 'requested' | 'queued' | 'settled' | 'rejected'

export type WithdrawalFailure = 'insufficient_shares' | 'wrong_destination' | 'pool_paused' | 'worth_nothing'

export interface Withdrawal {
  readonly id: WithdrawalId
  readonly poolKey: string
  /** As `nameOf` names a caller. */
  readonly holder: string
  /** Null: all of them. */
  readonly shares: bigint | null
  readonly destination: string
  readonly status: WithdrawalStatus
  readonly burnedShares: bigint | null
  readonly amount: Usdc | null
  /** The part for which payouts were requested. */
  readonly filled: Usdc
  /** Whether free liquidity covered it when the shares were burned. */
  readonly wasLiquid: boolean | null
  readonly failure: WithdrawalFailure | null
  readonly createdAt: Date
}
