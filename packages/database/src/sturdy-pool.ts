import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { isOutage } from './outage.ts'

/**
 * A client whose query ended in an outage may still have an answer on its way; handing it out again would give
 * that answer, or the same silence, to somebody else's question. It answers nothing more and is destroyed.
 */
export function sturdyPool(pool: pg.Pool): PostgresPool {
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect()
      const known = wrapped.get(client)
      if (known !== undefined) return known
      const fresh = watch(client)
      wrapped.set(client, fresh)
      return fresh
    },
    end: () => pool.end(),
  }
}

function watch(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken
    try {
      return await client.query(sql, [...parameters])
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
