import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { isOutage } from './outage.ts'

/**
 * A client whose query ended in an outage may still have an answer on its way; handing it out again would give
 * that answer, or the same silence, to somebody else's question. It answers nothing more and is destroyed.
 */
export function sturdyPool(pool: pg.Pool, keepsPlans = false): PostgresPool {
  const names = keepsPlans ? statementNames() : () => undefined
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect()
      const known = wrapped.get(client)
      if (known !== undefined) return known
      const fresh = watch(client, names)
      wrapped.set(client, fresh)
      return fresh
    },
    end: () => pool.end(),
  }
}

function watch(client: pg.PoolClient, nameOf: (sql: string) => string | undefined): PostgresPoolClient {
  let broken: Error | undefined
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken
    try {
      const name = nameOf(sql)
      return await client.query({ text: sql, values: [...parameters], ...(name !== undefined && { name }) })
    } catch (error) {
      if (error instanceof Error && isOutage(error) && !isRefusalOfOneStatement(error)) broken = error
      throw error
    }
  }
  return {
    // Cursors are not used here, so the one overload that is called is the one that exists.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || broken !== undefined),
  }
}

/** A statement the server itself gave up (lock or statement timeout) leaves the connection as good as before. */
function isRefusalOfOneStatement(error: Error): boolean {
  return 'code' in error && (error.code === '55P03' || error.code === '57014')
}

/** So many different statements are planned once per connection; the rest each time, as without names. */
const MOST_NAMES = 200

/** A name for each text, so that Postgres plans it once per connection and not once per call. */
function statementNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>()
  return (sql) => {
    const known = names.get(sql)
    if (
      known !== undefined ||
      names.size === MOST_NAMES ||
      !/^\s*(select|insert|update|delete|with)/i.test(sql)
    )
      return known
    const name = `market_${names.size}`
    names.set(sql, name)
    return name
  }
}
