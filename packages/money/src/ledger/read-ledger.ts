import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { type Account, stripesOf } from './accounts.ts'
import type { JournalId } from './journal.ts'
import { findJournals, type PostedJournal, sumBalances, sumByKind } from './store.ts'

/** The balance of an account over all its stripes. Zero when it was never used; only `world` and `cold` can be negative. */
export const balanceOf = (db: Db | Tx, account: Account): Promise<bigint> =>
  sumBalances(db, stripesOf(account))

export interface Totals {
  /** What the treasury on this network must hold: all that came in and has not gone out. */
  readonly treasuryView: bigint
  /** What was moved to cold addresses, including moves that are still under way. */
  readonly coldView: bigint
  /** Owed to users, by kind. */
  readonly liabilities: { readonly escrow: bigint; readonly payable: bigint; readonly surplus: bigint }
  readonly fees: bigint
  readonly suspense: bigint
  /** `treasuryView` and `coldView` minus all other accounts. Anything but zero is a bug. */
  readonly imbalance: bigint
}

/** Read by one statement, so that all sums are of the same moment. */
export async function totals(db: Db | Tx, network: Network): Promise<Totals> {
  const { world, cold, escrow, payable, surplus, fees, suspense } = await sumByKind(db, network)
  const [treasuryView, coldView] = [-world, -cold]
  return {
    treasuryView,
    coldView,
    liabilities: { escrow, payable, surplus },
    fees,
    suspense,
    imbalance: treasuryView + coldView - (escrow + payable + surplus + fees + suspense),
  }
}

export interface Statement {
  readonly journals: readonly PostedJournal[]
  /** Where the next page begins; null at the end. */
  readonly nextBefore: JournalId | null
}

/** The journals of an order, transfer or payout, or of an agent; newest first. */
export async function statementOf(
  db: Db | Tx,
  about: { readonly subject: string } | { readonly agentId: AgentId },
  page: { readonly limit: number; readonly before?: JournalId },
): Promise<Statement> {
  const rows = await findJournals(db, about, page.before, page.limit + 1)
  const journals = rows.slice(0, page.limit)
  return { journals, nextBefore: rows.length > page.limit ? (journals.at(-1)?.id ?? null) : null }
}
