import type { Db, Tx } from '@market/database/transact'
import { sql } from 'kysely'
import { isSwitch, type SwitchName, type SwitchState } from './switch.ts'

export async function findSwitches(db: Db): Promise<SwitchState[]> {
  const rows = await db.selectFrom('switches').selectAll().execute()
  return rows.flatMap(({ name, ...row }) =>
    isSwitch(name)
      ? [
          {
            name,
            onSince: row.on_since,
            changedAt: row.changed_at,
            changedBy: row.changed_by,
            reason: row.reason,
          },
        ]
      : [],
  )
}

/** Any name for the one lock that writers share and whoever turns a switch holds alone. */
const LOCK = 7_301_404

/** Until the commit: a switch is turned only when no write that saw it otherwise is still under way. */
export async function joinWriters(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${LOCK})`.execute(tx)
}

export async function waitForWriters(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
}

/** The first of these switches that is on. */
export async function findOneOn(tx: Tx, names: readonly SwitchName[]): Promise<SwitchName | undefined> {
  const row = await tx
    .selectFrom('switches')
    .select('name')
    .where('name', 'in', [...names])
    .where('on_since', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined && isSwitch(row.name) ? row.name : undefined
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
  return {
    name: state.name,
    onSince: row.on_since,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
    reason: row.reason,
  }
}
