import { DATABASE_EPOCH } from '@market/database/epoch'
import type { Tables } from '@market/database/tables'
import type { Db, Tx } from '@market/database/transact'
import { type Selectable, sql } from 'kysely'
import type { Needs } from '../context.ts'
import {
  EPOCH_SWITCHES,
  type EpochSwitch,
  isSwitch,
  NEW_EPOCH,
  type SwitchName,
  type SwitchState,
} from './switch.ts'

const isOtherEpoch = sql<boolean>`coalesce(database_epoch <> ${DATABASE_EPOCH}, false)`

export async function findSwitches(db: Db): Promise<SwitchState[]> {
  const rows = await db
    .selectFrom('switches')
    .selectAll()
    .select([isOtherEpoch.as('is_other_epoch'), sql<Date>`pg_postmaster_start_time()`.as('started_at')])
    .execute()
  return rows.flatMap(({ name, ...row }) => {
    if (!isSwitch(name)) return []
    if (row.on_since !== null || !row.is_other_epoch) return [stateOf(name, row)]
    const since = row.started_at
    return [{ name, onSince: since, changedAt: since, changedBy: 'system', reason: NEW_EPOCH }]
  })
}

const stateOf = (name: SwitchName, row: Omit<Selectable<Tables['switches']>, 'name'>): SwitchState => ({
  name,
  onSince: row.on_since,
  changedAt: row.changed_at,
  changedBy: row.changed_by,
  reason: row.reason,
})

/**
 * Records the epoch in which the first worker started; from then on a new epoch turns the switch on. A worker calls it before
 * it signs what the switch stops. The first request would be too late: a backup from before it forgets what was sent.
 */
export async function recordEpoch({ db, clock }: Needs<'db' | 'clock'>, name: EpochSwitch): Promise<void> {
  const recorded = await db
    .selectFrom('switches')
    .select('name')
    .where('name', '=', name)
    .where('database_epoch', 'is not', null)
    .executeTakeFirst()
  if (recorded !== undefined) return
  const database_epoch = DATABASE_EPOCH
  const change = { changed_at: clock.now(), changed_by: 'system', reason: 'The first worker started' }
  await db
    .insertInto('switches')
    .values({ name, database_epoch, ...change })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ database_epoch }).where('switches.database_epoch', 'is', null),
    )
    .execute()
}

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
  const rows = await tx
    .selectFrom('switches')
    .select('name')
    .where((where) => where.or([where('on_since', 'is not', null), isOtherEpoch]))
    .execute()
  return rows.map((row) => row.name)
}

export async function saveSwitch(
  tx: Tx,
  state: { name: SwitchName; on: boolean; at: Date; by: string; reason: string },
): Promise<SwitchState> {
  const isRelease = !state.on && EPOCH_SWITCHES.some((name) => name === state.name)
  const change = {
    changed_at: state.at,
    changed_by: state.by,
    reason: state.reason,
    ...(isRelease && { database_epoch: DATABASE_EPOCH }),
  }
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
