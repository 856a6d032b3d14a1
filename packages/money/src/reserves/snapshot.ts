import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

export type SnapshotId = `rsv_${string}`

/** One look at a treasury and at what is owed on its network. */
export interface Snapshot {
  readonly id: SnapshotId
  readonly network: Network
  readonly takenAt: Date
  readonly treasury: string
  /** On the chain: as of the newest final block, and as of now. */
  readonly final: Usdc
  readonly latest: Usdc
  readonly books: Books
  /** What is certainly missing. */
  readonly short: Usdc
  readonly proof: { readonly root: string; readonly leaves: number } | null
}

/** The books at one moment. */
export interface Books {
  /** What the treasury must hold, as far as is booked. */
  readonly ledger: bigint
  /** What of it may have left already. */
  readonly inFlight: Usdc
  readonly escrow: Usdc
  readonly payable: Usdc
  readonly surplus: Usdc
  readonly suspense: Usdc
  /** The platform's own. */
  readonly fees: Usdc
}

/** Owed to others. */
export const liabilitiesOf = ({ escrow, payable, surplus, suspense }: Books): bigint =>
  escrow + payable + surplus + suspense

/** Anything but zero is a fault of ours: the database itself keeps the books balanced. */
export const imbalanceOf = (books: Books): bigint => books.ledger - liabilitiesOf(books) - books.fees

/** The books before the chain was asked, in what matters for the comparison. */
export interface BooksBefore {
  readonly ledger: bigint
  /** Booked as paid out since some moment before. */
  readonly settled: bigint
}

export type BooksAfter = Books & { readonly settled: bigint }

/**
 * What is certainly missing on the chain. The chain and the books cannot be read at one moment, so every figure is
 * taken from the side on which it can only speak for the treasury:
 *
 * - Money comes in on the chain first and is booked later. What was booked *before* the chain was asked is therefore
 *   on the chain; what is booked meanwhile is not expected yet.
 * - Money goes out after its payout was written down as signed, and is booked later. Whatever had left when the chain
 *   was asked is therefore signed or settled in the books read *afterwards*; what is signed meanwhile may have left too.
 *
 * So at least `came in, before` − `settled, after` − `in flight, after` must have been there. The first two are the
 * ledger's view before, less what was settled between the two readings. A payout that settles between them leaves what
 * is in flight and enters what was settled by the same transaction; one that fails has taken nothing from the chain.
 */
export function certainlyMissing(before: BooksBefore, after: BooksAfter, onChain: bigint): bigint {
  const settledMeanwhile = after.settled - before.settled
  return before.ledger - settledMeanwhile - after.inFlight - onChain
}

/** Books that do not balance are as bad as money that is not there: nothing must leave on their word. */
export function shortage(missing: bigint, books: Books): bigint {
  const imbalance = imbalanceOf(books)
  const fault = imbalance < 0n ? -imbalance : imbalance
  return missing > fault ? missing : fault
}
