import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

export type SnapshotId = `rsv_${string}`

/** The USDC in a treasury and the liabilities on its network at one time. */
export interface Snapshot {
  readonly id: SnapshotId
  readonly network: Network
  readonly takenAt: Date
  readonly treasury: string
  /** On the chain, in the newest final block and in the newest block. */
  readonly final: Usdc
  readonly latest: Usdc
  readonly balances: LedgerBalances
  /** The amount that is certainly missing. */
  readonly short: Usdc
  readonly proof: { readonly root: string; readonly leaves: number } | null
}

/** Balances of the ledger at one moment. */
export interface LedgerBalances {
  /** What the treasury must hold according to the ledger. */
  readonly ledger: bigint
  /** The part of it that is signed and may have left already. */
  readonly inFlight: Usdc
  readonly escrow: Usdc
  readonly payable: Usdc
  readonly surplus: Usdc
  readonly suspense: Usdc
  /** The platform's revenue. */
  readonly fees: Usdc
}

/** Owed to users. */
export const liabilitiesOf = ({ escrow, payable, surplus, suspense }: LedgerBalances): bigint =>
  escrow + payable + surplus + suspense

/** Anything but zero is a bug: the database enforces balanced journals. */
export const imbalanceOf = (balances: LedgerBalances): bigint =>
  balances.ledger - liabilitiesOf(balances) - balances.fees

/** The balances before the chain is read, as far as the comparison needs them. */
export interface BalancesBefore {
  readonly ledger: bigint
  /** The sum of payouts that became final since a fixed time. */
  readonly settled: bigint
}

export type BalancesAfter = LedgerBalances & { readonly settled: bigint }

/**
 * The amount that is certainly missing on the chain. Ledger and chain cannot be read at the same moment, so each number is
 * read at the time at which it can only be in favour of the treasury:
 *
 * - Incoming money is on the chain first and posted later. What was posted *before* the chain was read is therefore on
 *   the chain; what is posted in between is not expected yet.
 * - Outgoing money leaves after its payout was stored as signed, and is posted later. What had left when the chain was
 *   read is therefore signed or settled in the balances read *afterwards*.
 *
 * So the chain must have held at least `received, before` − `settled, after` − `in flight, after`. The first two are the
 * ledger's view before, minus what was settled between the two readings. A payout that settles in between moves from in
 * flight to settled in one transaction; one that fails has taken nothing from the chain.
 */
export function certainlyMissing(before: BalancesBefore, after: BalancesAfter, onChain: bigint): bigint {
  const settledMeanwhile = after.settled - before.settled
  return before.ledger - settledMeanwhile - after.inFlight - onChain
}

/** An imbalance of the ledger counts as a shortage too: no payout may leave then. */
export function shortage(missing: bigint, balances: LedgerBalances): bigint {
  const imbalance = imbalanceOf(balances)
  const fault = imbalance < 0n ? -imbalance : imbalance
  return missing > fault ? missing : fault
}
