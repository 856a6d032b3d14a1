import { ApiError } from '@market/kernel/api-error'
import { formatUsd, minus, type Usdc, usdc, ZERO } from '@market/kernel/money'
import { type Pool, worthOf } from '../pools/index.ts'

export type WithdrawalId = `ewd_${string}`

/**
 * `requested` until the worker takes the shares from the position. Then `queued` until the vault has paid for all of them and payouts
 * of all of it were requested: `settled`. `rejected`: nothing was taken.
 */
export type WithdrawalStatus = 'requested' | 'queued' | 'settled' | 'rejected'

export type WithdrawalFailure = 'insufficient_shares' | 'wrong_destination' | 'below_minimum'

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
  /** Those that the vault was not asked to redeem yet, and those in a recall under way. They gain and lose like all others. */
  readonly openShares: bigint
  readonly recalledShares: bigint
  /** What the vault paid for the others, and the part of it for which payouts were requested. */
  readonly paid: Usdc
  readonly filled: Usdc
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
  below_minimum: {
    kind: 'invalid',
    message: (key: string) =>
      `A withdrawal from ${key} is worth at least ${formatUsd(SMALLEST_PART)} USD. Withdraw more, or all of your shares. Nothing was burned.`,
  },
} as const

/** Why a withdrawal was rejected. */
export function rejection(failure: WithdrawalFailure, key: string): ApiError {
  const { kind, message } = REJECTIONS[failure]
  return new ApiError(kind, message(key), { code: failure })
}

/** Whether so much can be withdrawn: less than the smallest part only as all of the shares. */
// fix: smallest-withdrawal
export const isWithdrawable = (amount: Usdc, isAll: boolean): boolean => isAll || amount >= SMALLEST_PART

type Open = Pick<Withdrawal, 'openShares' | 'recalledShares'>

/** What the shares of a withdrawal are worth that the vault has not paid for. */
export const openValue = ({ openShares, recalledShares }: Open, pool: Pool): Usdc =>
  worthOf(openShares + recalledShares, pool)

export const hasOpenShares = ({ openShares, recalledShares }: Open): boolean =>
  openShares + recalledShares > 0n

/** What the vault has paid and no payout has taken. */
export const unpaidOf = ({ paid, filled }: Pick<Withdrawal, 'paid' | 'filled'>): Usdc => minus(paid, filled)

/** Whether a withdrawal can be paid at all. Otherwise it waits, shown, until its shares are worth more. */
export const isPayable = (withdrawal: Withdrawal, pool: Pool, minPayout: Usdc): boolean =>
  unpaidOf(withdrawal) + openValue(withdrawal, pool) >= minPayout

export interface Limits {
  /** Nothing smaller is sent on the network. */
  readonly minPayout: Usdc
  /** Nothing larger is sent at once. */
  readonly perPayout: Usdc
}

/**
 * What of the unpaid money is paid now. A part is large enough, and leaves nothing or what can be paid: `rest` is what the open shares
 * are worth, or null when there are none.
 */
export function partOf(unpaid: Usdc, rest: Usdc | null, { minPayout, perPayout }: Limits): Usdc {
  const smallest = minPayout > SMALLEST_PART ? minPayout : SMALLEST_PART
  // fix: part-leaves-payable-rest
  const whole = rest !== null && rest < minPayout ? unpaid - minPayout : unpaid
  if (whole < (rest === null ? minPayout : smallest)) return ZERO
  if (whole <= perPayout) return usdc(whole)
  return usdc(whole - perPayout < minPayout ? whole - minPayout : perPayout)
}

export type WaitsFor = 'liquidity' | 'venue_check' | 'payout_minimum'

/** What a queued withdrawal waits for; null when it is being paid. */
export function waitsFor(withdrawal: Withdrawal, pool: Pool, minPayout: Usdc): WaitsFor | null {
  if (withdrawal.status !== 'queued') return null
  if (!isPayable(withdrawal, pool, minPayout)) return 'payout_minimum'
  if (!hasOpenShares(withdrawal)) return null
  if (pool.paused === 'held' || pool.paused === 'wallet') return 'venue_check'
  return withdrawal.openShares > 0n && !isLiquid(pool) ? 'liquidity' : null
}

/** Whether the vault would pay for all open withdrawals now. */
export const isLiquid = (pool: Pool): boolean =>
  pool.reading !== null && pool.reading.liquid >= worthOf(pool.queuedShares, pool)
