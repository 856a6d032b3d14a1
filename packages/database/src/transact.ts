import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { isLostStatement } from './lost-statement.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>

/** Stores write only through a Tx, so that no write happens outside a transaction. */
export type Tx = Transaction<Tables>

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const ATTEMPTS = 4

/** Returned by the work of a transaction to commit its changes and then throw `error`. */
export class CommitThenReject {
  readonly error: Error
  constructor(error: Error) {
    this.error = error
  }
}

/**
 * One transaction. It runs again when Postgres ended it because of a conflict, or when a prepared statement was lost:
 * such a transaction has changed nothing. Locks and constraints carry the rules, so read committed is enough.
 */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T | CommitThenReject>): Promise<T> {
  const result = await repeated(() => db.transaction().setIsolationLevel('read committed').execute(work))
  if (result instanceof CommitThenReject) throw result.error
  return result
}

/** Runs all reads on one snapshot. */
export const readAtOnce = <T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> =>
  repeated(() =>
    db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read),
  )

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === ATTEMPTS || !(isConflict(error) || isLostStatement(error))) throw error
      await pause(Math.random() * 10 * 2 ** attempt)
    }
  }
}

function isConflict(error: unknown): boolean {
  const code = sqlStateOf(error)
  return code === SERIALIZATION_FAILURE || code === DEADLOCK
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The name of the violated constraint, so that a store can throw a specific error. */
export function brokenConstraint(error: unknown): string | undefined {
  const broken = error instanceof Error && 'constraint' in error ? error.constraint : undefined
  return typeof broken === 'string' ? broken : undefined
}
