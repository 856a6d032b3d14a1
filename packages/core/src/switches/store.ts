import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Selectable, sql } from 'kysely'
import { isSwitch, type SwitchName, type SwitchState } from './switch.ts'

export async function findSwitches(db: Db): Promise<SwitchState[]> {
  const rows = await db.selectFrom('switches').selectAll().execute()
  return rows.flatMap(({ name, ...row }) => (isSwitch(name) ? [stateOf(name, row)] : []))
}

const stateOf = (name: SwitchName, row: Omit<Selectable<Tables['switches']>, 'name'>): SwitchState => ({
  name,
  onSince: row.on_since,
  changedAt: row.changed_at,
  changedBy: row.changed_by,
  reason: row.reason,
})

/** Writers share this advisory lock; turning a switch acquires it exclusively. */
const LOCK = 7_301_404

const seenByTransaction = new WeakMap<Tx, readonly string[]>()

/**
 * Holds the writers' lock until the commit and returns the switches that are on. They cannot change before the commit,
 * because turning a switch waits for every writer that has seen it otherwise.
 */
export async function joinWriters(tx: Tx): Promise<readonly string[]> {
  const { rows } = await sql<{ names: string[] }>`select join_writers(${LOCK}) as names`.execute(tx)
  const names = rows[0]?.names ?? []
  seenByTransaction.set(tx, names)
  return names
}

export async function waitForWriters(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
}

/** The switches that are on. A transaction that called `joinWriters` uses the list it got then. */
export async function findSwitchesOn(tx: Tx): Promise<readonly string[]> {
  const seen = seenByTransaction.get(tx)
  if (seen !== undefined) return seen
  const rows = await tx.selectFrom('switches').select('name').where('on_since', 'is not', null).execute()
  return rows.map((row) => row.name)
}

export async function saveSwitch(
  tx: Tx,
  state: { name: SwitchName; on: boolean; at: Date; by: string; reason: string },
): Promise<SwitchState> {
  const change = { changed_at: state.at, changed_by: state.by, reason: state.reason }
  const row = await tx
    .insertInto('switches')
    .values({ name: state.name, on_since: state.on ? state.at : null, ...change })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((set) => ({
        ...change,
        on_since: state.on ? set.fn.coalesce('switches.on_since', set.val(state.at)) : null,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return stateOf(state.name, row)
}
