import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import { type Account, stripesOf } from './accounts.ts'
import type { JournalId } from './journal.ts'
import { findJournals, type PostedJournal, sumBalances, sumByKind } from './store.ts'

/** The balance of an account over all its stripes. Zero when it was never used; only `world`, `cold` and `venue` can be negative. */
export const balanceOf = (db: Db | Tx, account: Account): Promise<bigint> =>
  sumBalances(db, stripesOf(account))

export interface Totals {
  /** What the treasury on this network must hold: all that came in and has not gone out. */
  readonly treasuryView: bigint
  /** What was moved to cold addresses, including moves that are still under way. */
  readonly coldView: bigint
  /** What is on its way to venues of Earn. */
  readonly venuesView: bigint
  /** Owed to users, by kind. */
  readonly liabilities: Readonly<Record<'escrow' | 'payable' | 'surplus' | 'withdrawal', bigint>>
  readonly fees: bigint
  readonly suspense: bigint
  /** `treasuryView`, `coldView` and `venuesView` minus all other accounts. Anything but zero is a bug. */
  readonly imbalance: bigint
}

/** Read by one statement, so that all sums are of the same moment. */
export async function totals(db: Db | Tx, network: Network): Promise<Totals> {
  const { world, cold, venue, fees, suspense, ...liabilities } = await sumByKind(db, network)
  const [treasuryView, coldView, venuesView] = [-world, -cold, -venue]
  const owed = Object.values(liabilities).reduce((sum, one) => sum + one, fees + suspense)
  return {
    treasuryView,
    coldView,
    venuesView,
    liabilities,
    fees,
    suspense,
    imbalance: treasuryView + coldView + venuesView - owed,
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
