import { latestMigration } from './migrations.ts'
import { isOutage } from './outage.ts'
import { askDatabase } from './ping.ts'
import { type Db, sqlStateOf } from './transact.ts'

const TIMEOUT_MS = 500
/** Anybody may ask whether a process is ready, so the database is asked at most once in this time. */
const VALID_MS = 1_000

const UNREACHABLE = 'database unreachable'
const STANDBY = 'the database is a standby and rejects writes: promote it, or set DATABASE_URL to the primary'

const UNDEFINED_TABLE = '42P01'
const NO_PRIVILEGE = '42501'

/** Why this process cannot use the database, with what to do; undefined when it can. */
export type WhyNotReady = () => Promise<string | undefined>

interface ReadinessLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A process is ready when the database responds in time, is no standby and has the newest migration of this code. Changes are logged. */
export function readiness(db: Db, log: ReadinessLog, wanted = latestMigration()): WhyNotReady {
  let last: { readonly at: number; readonly reason: Promise<string | undefined> } | undefined
  let known: string | undefined
  let isKnown = false
  const logChange = (reason: string | undefined) => {
    if (isKnown && reason === known) return
    if (reason === undefined) log.info({}, 'ready')
    else log.error({ reason }, 'not ready')
    isKnown = true
    known = reason
  }
  const check = () => {
    // fix: missing-migration-named
    const reason = askDatabase(db, wanted).then(
      (found) => (found.isStandby ? STANDBY : missing(wanted, found)),
      reasonOf,
    )
    const answer = Promise.race([
      reason,
      new Promise<string>((resolve) => setTimeout(() => resolve(UNREACHABLE), TIMEOUT_MS).unref()),
    ])
    // A process that has just started may be too busy to hear the response in time. That is no outage: the log waits for the
    // response, or for the timeouts of the database.
    // fix: late-response-is-no-outage
    void reason.then(logChange)
    return answer
  }
  return () => {
    const now = performance.now()
    if (last === undefined || now - last.at > VALID_MS) last = { at: now, reason: check() }
    return last.reason
  }
}

/** With `dist` alone there is no npm. */
const MIGRATE = 'run npm run db:migrate, or node dist/bin/migrate.mjs'

const missing = (migration: string, { hasMigration }: { hasMigration: boolean }): string | undefined =>
  hasMigration ? undefined : `the database does not have migration ${migration}: ${MIGRATE}`

function reasonOf(error: unknown): string {
  if (isOutage(error)) return UNREACHABLE
  switch (sqlStateOf(error)) {
    case UNDEFINED_TABLE:
      return `the database has no tables: ${MIGRATE}`
    case NO_PRIVILEGE:
      return 'the role of DATABASE_URL may not read the database: run npm run db:roles and npm run db:migrate'
    default:
      return `the database rejects this process: ${error instanceof Error ? error.message : String(error)}`
  }
}
