import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type PreparedStatements, resilientPool } from './resilient-pool.ts'
import type { Tables } from './tables.ts'
import { parseTextArray } from './text-array.ts'
import type { Db } from './transact.ts'

const INT8 = 20
const TEXT_ARRAY = 1009

export interface ConnectSettings {
  readonly url: string
  readonly maxConnections?: number
  readonly applicationName?: string
  /**
   * Which statements are planned once per connection instead of on every call. Reads outside transactions can be
   * searches, whose best plan depends on their values: the api prepares only what runs in a transaction. A pooler in
   * transaction mode must support prepared statements (PgBouncer 1.21 with max_prepared_statements).
   */
  readonly preparedStatements?: PreparedStatements
  /** Sends the first read of a transaction together with its BEGIN. On unless it is false. */
  readonly pipeline?: boolean
  /** Called when a prepared statement was lost and none is prepared from then on. */
  readonly onLostStatement?: (error: Error) => void
  /** Use the driver's default integer types, for third-party code such as the job engine. */
  readonly plainTypes?: boolean
  /** Commits do not wait for the disk. Only for processes that repeat work lost in a crash of Postgres. */
  readonly withoutFlush?: boolean
  /** Multiplies every timeout. For tests of other things than timeouts, which run on machines of any speed. */
  readonly timeoutFactor?: number
  /** Called when an idle connection breaks. Without a listener, Node would end the process. */
  readonly onIdleError?: (error: Error) => void
}

/**
 * Every wait has a timeout: `query_timeout` in the client covers an unreachable server, and the server's statement timeout
 * covers a slow statement.
 */
const TIMEOUTS = {
  connectionTimeoutMillis: 2_000,
  query_timeout: 5_000,
  statement_timeout: 4_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
} as const

const timeoutsTimes = (factor: number) =>
  Object.fromEntries(Object.entries(TIMEOUTS).map(([name, ms]) => [name, ms * factor]))

export function openPool(settings: ConnectSettings): pg.Pool {
  const types = new pg.TypeOverrides()
  types.setTypeParser(TEXT_ARRAY, parseTextArray)
  if (settings.plainTypes !== true) types.setTypeParser(INT8, BigInt)
  const pool = new pg.Pool({
    connectionString: settings.url,
    max: settings.maxConnections ?? 10,
    application_name: settings.applicationName ?? 'agent-market',
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types,
    pipeline: settings.pipeline ?? false,
    ...(settings.withoutFlush === true && { options: '-c synchronous_commit=off' }),
    ...timeoutsTimes(settings.timeoutFactor ?? 1),
  })
  const onIdleError = settings.onIdleError ?? (() => {})
  pool.on('error', onIdleError)
  // A connection can also break between two queries of a transaction. Then only the client emits the error.
  pool.on('connect', (client) => client.on('error', onIdleError))
  return pool
}

export function connect({ pipeline = true, ...settings }: ConnectSettings): Db {
  return new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: resilientPool(openPool({ ...settings, pipeline }), {
        pipeline,
        preparedStatements: settings.preparedStatements ?? 'none',
        onLostStatement: settings.onLostStatement ?? (() => {}),
      }),
    }),
  })
}
