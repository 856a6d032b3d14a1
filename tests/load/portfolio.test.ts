import { openPool } from '@market/database/connect'
import { transact } from '@market/database/transact'
import { makeListing } from '@market/testing/make-listing'
import { makeOrder } from '@market/testing/make-order'
import { makeAgent } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { listPortfolio } from '@market/work/portfolio'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { statementsOf } from './order-statements.ts'
import { planCost } from './plan-cost.ts'

const PRIVATE_ORDERS = 5_000
const GROWING = ['orders', 'order_deliveries', 'workspace_deliverables']

test(`listPortfolio: reads no private order of an agent that has ${PRIVATE_ORDERS}`, async () => {
  const database = await testDatabase()
  const pool = openPool({ url: database.url, maxConnections: 1 })
  try {
    const ctx = marketContext({ db: database.db })
    const { agent } = await makeAgent(ctx)
    const { id } = await makeOrder(ctx, await makeListing(ctx, agent.id), { status: 'completed' })
    await transact(database.db, async (tx) => {
      await sql`create temporary table copies on commit drop as
        select orders.* from orders cross join generate_series(1, ${PRIVATE_ORDERS})`.execute(tx)
      await sql`update copies set is_private = true, payment_reference = md5(ctid::text),
        id = 'ord_1700000000000_' || left(md5(ctid::text), 17)`.execute(tx)
      await sql`insert into orders select * from copies`.execute(tx)
    })
    await sql`analyze orders`.execute(database.db)

    const statements = await statementsOf(database.url, async (db) => {
      const { entries } = await listPortfolio({ db }, agent.id, { kind: 'anonymous' }, { limit: 20 })
      expect(entries.map(({ order }) => order.id)).toEqual([id])
    })
    for (const statement of statements) {
      const { scanned, rows } = await planCost(pool, statement, (table) => GROWING.includes(table))
      expect(scanned, statement.sql).toEqual([])
      expect(rows, statement.sql).toBeLessThan(10)
    }
  } finally {
    await pool.end()
    await database.stop()
  }
})
