import type { Tx } from '@market/database/transact'
import { sql } from 'kysely'

export interface CountedAttempts {
  readonly subject: string
  readonly attempts: number
  /** Of these, how many began so long ago that they have ended. */
  readonly ended: number
  readonly oldest: Date | null
  readonly isProven: boolean
}

/** The attempts of the window, locked in the order of `subjects` until the commit. */
export async function lockAttempts(
  tx: Tx,
  subjects: readonly string[],
  { now, since, endedBefore }: { readonly now: Date; readonly since: Date; readonly endedBefore: Date },
): Promise<CountedAttempts[]> {
  const { rows } = await sql<CountedAttempts>`
    insert into unproven_attempts as counted (subject, attempted_at, updated_at)
    select subject, '{}', ${now} from unnest(${[...subjects]}::text[]) with ordinality as given (subject, place)
    order by place
    on conflict (subject) do update set updated_at = excluded.updated_at,
      attempted_at = array(select at from unnest(counted.attempted_at) as at where at > ${since})
    returning subject, cardinality(attempted_at) as attempts, proven_at is not null as "isProven",
      (select count(*)::int from unnest(attempted_at) as at where at <= ${endedBefore}) as ended,
      (select min(at) from unnest(attempted_at) as at) as oldest`.execute(tx)
  return rows
}

/** Adds an attempt to subjects that this transaction has locked. */
export async function addAttempt(tx: Tx, subjects: readonly string[], at: Date): Promise<void> {
  await sql`update unproven_attempts set attempted_at = attempted_at || ${at}::timestamptz
    where subject = any(${[...subjects]}::text[])`.execute(tx)
}

/** Removes an attempt that succeeded, one subject after the other in the order of `lockAttempts`. */
export async function removeAttempt(
  tx: Tx,
  subjects: readonly string[],
  attemptedAt: Date,
  now: Date,
): Promise<void> {
  for (const subject of subjects)
    await sql`update unproven_attempts set attempted_at = array_remove(attempted_at, ${attemptedAt}::timestamptz),
        proven_at = case when subject like 'host:%' then coalesce(proven_at, ${now}::timestamptz) end, updated_at = ${now}
      where subject = ${subject}`.execute(tx)
}

/** Deletes up to `limit` counters that were not used since, and returns how many. */
export async function removeAttemptsBefore(
  tx: Tx,
  before: { readonly unproven: Date; readonly proven: Date },
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from unproven_attempts where subject in (
      select subject from unproven_attempts
      where updated_at < ${before.proven} or (updated_at < ${before.unproven} and proven_at is null)
      limit ${limit} for update skip locked
    )`.execute(tx)
  return Number(numAffectedRows ?? 0)
}
