import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { idOf, world } from './accounts.ts'
import { type Journal, type JournalId, type Leg, legsOf } from './journal.ts'
import { findJournalByKey, insertJournal } from './store.ts'

export interface Posted {
  readonly journalId: JournalId
  /** False when the key was posted before: nothing was moved. */
  readonly isNew: boolean
}

/**
 * Moves money, once per key: a second call, also a concurrent one, returns the first journal and moves nothing.
 * Accounts stay locked until the commit, so post late in a transaction.
 */
export async function post(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<Posted> {
  const legs = legsOf(journal)
  const journalId = ctx.ids.next('jrn')
  if (await insertJournal(tx, { ...journal, id: journalId, at: ctx.clock.now(), legs }))
    return { journalId, isNew: true }
  const first = await findJournalByKey(tx, journal.key)
  assert(first !== undefined, `${journal.key} was posted but cannot be read`)
  const isSame = first.subject === journal.subject && textOf(first.legs) === textOf(legs)
  assert(isSame, `${journal.key} was posted before, with other moves`)
  return { journalId: first.id, isNew: false }
}

/** Posts a journal whose key is new, because the caller has locked or just inserted what it is about. */
export async function postNew(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<void> {
  const { isNew } = await post(ctx, tx, journal)
  assert(isNew, `${journal.key} was posted before`)
}

/**
 * Posts new journals that end with a shared account each, in the order of these: what locks one of them at a time cannot
 * wait in a circle with this transaction.
 */
export async function postAllNew(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  journals: readonly Journal[],
): Promise<void> {
  const lastOf = (journal: Journal): string => idOf(legsOf(journal).at(-1)?.account ?? world(journal.network))
  const inOrder = journals.toSorted((a, b) => (lastOf(a) < lastOf(b) ? -1 : 1))
  for (const journal of inOrder) await postNew(ctx, tx, journal)
}

const textOf = (legs: readonly Leg[]): string =>
  legs.map(({ account, micros }) => `${account.kind} ${account.network} ${account.subject} ${micros}`).join()
