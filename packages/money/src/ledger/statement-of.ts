import type { Db, Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { JournalId } from './journal.ts'
import { findJournals, type PostedJournal } from './store.ts'

export interface Statement {
  readonly journals: readonly PostedJournal[]
  /** Where the next page begins; null at the end. */
  readonly nextBefore: JournalId | null
}

/** What happened to the money of an order, bounty or payout, or of an agent; newest first. */
export async function statementOf(
  db: Db | Tx,
  about: { readonly subject: string } | { readonly agentId: AgentId },
  page: { readonly limit: number; readonly before?: JournalId },
): Promise<Statement> {
  const rows = await findJournals(db, about, page.before, page.limit + 1)
  const journals = rows.slice(0, page.limit)
  return { journals, nextBefore: rows.length > page.limit ? (journals.at(-1)?.id ?? null) : null }
}
