import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { InFlight } from '@market/money/payouts'

export type SnapshotId = `rsv_${string}`

/** The USDC in a treasury and at its cold address, and the liabilities on its network at one time. */
export interface Snapshot {
  readonly id: SnapshotId
  readonly network: Network
  readonly takenAt: Date
  readonly treasury: string
  /** The cold address and what it holds; null on a network without one. */
  readonly cold: { readonly address: string; readonly held: Usdc } | null
  /** On the chain, in the newest final block and in the newest block; with what the cold address holds. */
  readonly final: Usdc
  readonly latest: Usdc
  readonly balances: LedgerBalances
  /** The amount that is certainly missing. */
  readonly short: Usdc
  readonly proof: { readonly root: string; readonly leaves: number } | null
  /** The UTC day whose snapshot this is, as yyyy-mm-dd; null for all others. */
  readonly day: string | null
  /** The transactions that add up to `balances.inFlight`. */
  readonly inFlight: InFlightList
  /** The server wallets of agents, which are no part of the treasury; only in a day's snapshot. */
  readonly wallets: WalletsTree | null
}

export interface InFlightList {
  /** Largest first, up to a limit. */
  readonly transactions: readonly InFlight[]
  /** The number of all. */
  readonly count: number
}

/** The tree over the server wallets that hold USDC. */
export interface WalletsTree {
  readonly root: string
  readonly count: number
  readonly total: Usdc
}

/** The UTC day of a time, as yyyy-mm-dd. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

/** Balances of the ledger at one moment. */
export interface LedgerBalances {
  /** What the treasury and the cold address must hold together according to the ledger. */
  readonly ledger: bigint
  /** What has left the treasury on its way to venues of Earn. */
  readonly venues: Usdc
  /** The part of it that is signed and may have left already. */
  readonly inFlight: Usdc
  /** The part of it from payments that a reorganization can still remove. */
  readonly unfinal: Usdc
  readonly escrow: Usdc
  readonly payable: Usdc
  readonly surplus: Usdc
  readonly suspense: Usdc
  /** What venues paid for withdrawals from Earn. Shares of pools are no liability. */
  readonly earn: Usdc
  /** The platform's revenue. */
  readonly fees: Usdc
}

/** Owed to users. */
export const liabilitiesOf = ({ escrow, payable, surplus, suspense, earn }: LedgerBalances): bigint =>
  escrow + payable + surplus + suspense + earn

/** Anything but zero is a bug: the database enforces balanced journals. */
export const imbalanceOf = (balances: LedgerBalances): bigint =>
  balances.ledger + balances.venues - liabilitiesOf(balances) - balances.fees

/** An imbalance of the ledger counts as a shortage too: no payout may leave then. */
export function shortage(missing: bigint, balances: LedgerBalances): bigint {
  const imbalance = imbalanceOf(balances)
  const fault = imbalance < 0n ? -imbalance : imbalance
  return missing > fault ? missing : fault
}
