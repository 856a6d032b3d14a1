import { createHash } from 'node:crypto'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { isLostStatement } from './lost-statement.ts'
import { isOutage } from './outage.ts'

export type PreparedStatements = 'all' | 'in_transactions' | 'none'

export interface ResilientPoolSettings {
  readonly preparedStatements: PreparedStatements
  /** Whether the first read of a transaction is sent together with its BEGIN; the pool must allow pipelining. */
  readonly pipeline: boolean
  /** Called once, when the server or a pooler lost a prepared statement. After that no statement is prepared. */
  readonly onLostStatement: (error: Error) => void
}

type NameOf = (sql: string, inTransaction: boolean) => string | undefined

/**
 * A client whose query ended in an outage may still receive that query's response. Reusing it would give the response to
 * another query, so such a client rejects every further query and is destroyed.
 */
export function resilientPool(pool: pg.Pool, settings: ResilientPoolSettings): PostgresPool {
  let prepared = settings.preparedStatements
  const statementName = statementNames()
  const names: NameOf = (sql, inTransaction) =>
    prepared === 'all' || (prepared === 'in_transactions' && inTransaction) ? statementName(sql) : undefined
  const stopPreparing = (error: Error) => {
    if (prepared === 'none') return
    prepared = 'none'
    settings.onLostStatement(error)
  }

  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect()
      const known = wrapped.get(client)
      if (known !== undefined) return known
      const fresh = wrap(client, settings.pipeline, names, stopPreparing)
      wrapped.set(client, fresh)
      return fresh
    },
    end: () => pool.end(),
  }
}

const BEGIN = 'start transaction'
const BEGUN = { command: 'SELECT', rowCount: 0, rows: [] } as const
const READS = /^\s*select\b/i

function wrap(
  client: pg.PoolClient,
  pipeline: boolean,
  nameOf: NameOf,
  stopPreparing: (error: Error) => void,
): PostgresPoolClient {
  let broken: Error | undefined
  let inTransaction = false
  let beginning: Promise<void> | undefined

  async function send(sql: string, parameters: readonly unknown[], name: string | undefined) {
    try {
      return await client.query({ text: sql, values: [...parameters], ...(name !== undefined && { name }) })
    } catch (error) {
      if (error instanceof Error && isOutage(error) && !isCancelledStatement(error)) broken = error
      throw error
    }
  }

  /**
   * With pipelining BEGIN is not waited for: the first statement is sent right behind it. Only a read may be, because a
   * write would take effect by itself if BEGIN failed; a write waits until the transaction has begun.
   */
  async function begin(sql: string) {
    inTransaction = true
    if (!pipeline) return send(sql, [], undefined)
    beginning = client.query(sql).then(
      () => {
        beginning = undefined
      },
      (error: Error) => {
        broken = error
      },
    )
    return BEGUN
  }

  async function query(sql: string, parameters: readonly unknown[]) {
    if (broken !== undefined) throw broken
    if (sql.startsWith(BEGIN)) return begin(sql)
    if (beginning !== undefined && !READS.test(sql)) {
      await beginning
      if (broken !== undefined) throw broken
    }
    if (sql === 'commit' || sql === 'rollback') inTransaction = false
    const name = nameOf(sql, inTransaction)
    try {
      return await send(sql, parameters, name)
    } catch (error) {
      if (name === undefined || !isLostStatement(error)) throw error
      stopPreparing(error)
      // The error aborted the transaction. `transact` runs it again.
      if (inTransaction) throw error
      return send(sql, parameters, undefined)
    }
  }

  return {
    // Only this overload is used, because cursors are not used here.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || broken !== undefined),
  }
}

/** After a lock or statement timeout of the server the connection can still be used. */
function isCancelledStatement(error: Error): boolean {
  return 'code' in error && (error.code === '55P03' || error.code === '57014')
}

/** Maximum number of prepared statements per connection. Others are planned on every call. */
const MAX_PREPARED = 200
const PREPARABLE = /^\s*(select|insert|update|delete|with)\b/i

/**
 * Names each statement by a hash of its text. Behind a pooler, processes share server connections: a name that means
 * the same text everywhere can be missing there, but never runs another statement.
 */
function statementNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>()
  return (sql) => {
    const known = names.get(sql)
    if (known !== undefined || names.size === MAX_PREPARED || !PREPARABLE.test(sql)) return known
    const name = `market_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`
    names.set(sql, name)
    return name
  }
}
