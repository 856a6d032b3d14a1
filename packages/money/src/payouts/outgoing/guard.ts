import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Hold } from '../hold.ts'

/**
 * EVM: what an earlier database epoch signed can be executed, and this database may have lost it. The chain refuses to pay a
 * payout twice, and not to pay another one with the same money.
 */
export interface Alive {
  /** Until when, in block time. It ends when a later block is final, and what was paid until then is explained. */
  readonly until: Date
  /** The newest block when the epoch began: nothing that was signed before paid with money that was received after it. */
  readonly height: bigint
  /** A payment that was claimed after this may have been claimed for something else before. */
  readonly claimsKnownUntil: Date
}

/** The facts that decide whether payouts of a network may be authorized. */
export interface Guard {
  readonly network: Network
  /** The database epoch that was compared with the chain, and whether it is the current one. */
  readonly databaseEpoch: string
  readonly isCurrentEpoch: boolean
  /** Transactions signed before this epoch cannot take effect in a block above this height. */
  readonly horizon: bigint
  /** Null on Solana, where nothing is compared before the horizon. */
  readonly alive: Alive | null
  readonly comparedAt: Date | null
  /** False when the treasury was counted in an earlier epoch and not yet in the current one. */
  readonly isCounted: boolean
  /** By how much the treasury holds less than it owes. */
  readonly short: Usdc
  readonly shortSince: Date | null
  /** What each provider shows, while they disagree whether money is missing. */
  readonly disagreement: string | null
}

/** Whether all transfers of earlier epochs are known. Until then nothing may be signed. */
export const isCompared = (guard: Guard | undefined): guard is Guard =>
  guard?.isCurrentEpoch === true && guard.comparedAt !== null

/** Why no payout of the network may be authorized; undefined while payouts are open. Workers, metrics and API use it. */
export function closedBy(guard: Guard | undefined): Hold | undefined {
  if (!isCompared(guard)) return { code: 'not_compared' }
  // A restored database may have lost payouts that were sent, so the treasury must be counted first.
  if (!guard.isCounted) return { code: 'not_counted' }
  if (guard.disagreement !== null) return { code: 'providers_disagree', detail: guard.disagreement }
  if (guard.short === 0n) return undefined
  return { code: 'treasury_short', detail: `${formatUsd(guard.short)} USDC are missing` }
}
