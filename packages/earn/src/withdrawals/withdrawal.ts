import { ApiError } from '@market/kernel/api-error'
import { minus, type Usdc, ZERO } from '@market/kernel/money'

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

const REJECTIONS = {
  insufficient_shares: {
    kind: 'conflict',
    message: (key: string) =>
      `You have fewer shares of ${key}. GET /api/earn/pool/positions shows how many. Nothing was burned.`,
  },
  wrong_destination: {
    kind: 'forbidden',
    message: (key: string) =>
      `Shares of ${key} are paid out only to a wallet that paid one of your deposits into it. Nothing was burned.`,
  },
  pool_paused: {
    kind: 'conflict',
    message: (key: string) =>
      `${key} stands still while its venue is checked. Nothing was burned. Try again later.`,
  },
  worth_nothing: {
    kind: 'conflict',
    message: () => 'These shares are worth less than one micro-dollar. Withdraw more. Nothing was burned.',
  },
} as const

/** Why a withdrawal was rejected. */
export function rejection(failure: WithdrawalFailure, key: string): ApiError {
  const { kind, message } = REJECTIONS[failure]
  return new ApiError(kind, message(key), { code: failure })
}

/** The part for which no payout was requested. */
export const owedFor = ({ amount, filled }: Withdrawal): Usdc => minus(amount ?? ZERO, filled)
