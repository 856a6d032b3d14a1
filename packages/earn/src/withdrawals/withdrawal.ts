import { ApiError } from '@market/kernel/api-error'
import { formatUsd, minus, type Usdc, usdc, ZERO } from '@market/kernel/money'

export type WithdrawalId = `ewd_${string}`

/**
 * `requested` until the worker burns the shares, which fixes the amount. Then `queued` until payouts of the whole amount were
 * requested: `settled`. `rejected`: nothing was burned.
 */
export type WithdrawalStatus = 'requested' | 'queued' | 'settled' | 'rejected'

export type WithdrawalFailure =
  | 'insufficient_shares'
  | 'wrong_destination'
  | 'pool_paused'
  | 'below_minimum'
  | 'worth_nothing'

/** A smaller part waits for more: each payout and each recall costs gas. */
export const SMALLEST_PART = usdc(1_000_000n)

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
  below_minimum: {
    kind: 'conflict',
    message: (key: string) =>
      `A withdrawal from ${key} is worth at least ${formatUsd(SMALLEST_PART)} USD. Less is paid only for all of your shares, from the network's min_payout_usd of GET /api/config on. Nothing was burned.`,
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

/** Whether so much is worth a payout: less than the smallest part only as all of the shares. */
// fix: smallest-withdrawal
export const isWithdrawable = (amount: Usdc, isAll: boolean, minPayout: Usdc): boolean =>
  amount >= minPayout && (isAll || amount >= SMALLEST_PART)

/**
 * What a withdrawal is paid now of what the treasury has. A part is not too small, and leaves a rest that can be paid.
 */
export function partOf(owed: Usdc, idle: Usdc, minPayout: Usdc): Usdc {
  if (owed <= idle) return owed
  const most = owed - minPayout
  // fix: part-leaves-payable-rest
  const part = idle < most ? idle : most
  return part < SMALLEST_PART || part < minPayout ? ZERO : usdc(part)
}

/** The part for which no payout was requested. */
export const owedFor = ({ amount, filled }: Withdrawal): Usdc => minus(amount ?? ZERO, filled)
