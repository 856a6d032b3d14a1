import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** Whether payouts may leave on a network. */
export interface Gate {
  readonly network: Network
  /** The database_epoch of the database that was compared with the chain, and whether it still is the one we are in. */
  readonly database_epoch: string
  readonly isCurrentEpoch: boolean
  /** Nothing signed before this database_epoch takes effect in a block above this one. */
  readonly horizon: bigint
  readonly position: string | null
  readonly comparedAt: Date | null
  /** When the newest reading of the chain to its end began. */
  readonly readAt: Date
  /** False while the treasury was counted in an earlier database_epoch and not yet in this one. */
  readonly isCounted: boolean
  /** By how much the treasury holds less than it must. */
  readonly short: Usdc
}

export const NOT_COMPARED = 'Not yet compared with the chain since the database came up'

export const NOT_COUNTED = 'The treasury was not yet counted since the database came up'

/** Whether all is known here that left before this database_epoch of the database. Without that nothing may be signed. */
export const isCompared = (gate: Gate | undefined): gate is Gate =>
  gate?.isCurrentEpoch === true && gate.comparedAt !== null

/** Why the gate keeps new payouts waiting, or undefined while it is open. */
export function shutReason(gate: Gate | undefined): string | undefined {
  if (!isCompared(gate)) return NOT_COMPARED
  // A restored database may owe what it no longer knows it has paid: what is left must be counted first.
  if (!gate.isCounted) return NOT_COUNTED
  return gate.short === 0n ? undefined : `The treasury is short by ${formatUsd(gate.short)} USDC`
}
