import type { Tx } from '@market/database/transact'
import { makeListing } from '@market/testing/make-listing'
import { makeListedAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countOrdered, countRating, countSettled, findListing } from './store.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

describe('listing counters', () => {
  const inTx = (work: (tx: Tx) => Promise<void>) => ctx.transact(work)

  test('count orders, settlements and ratings; a buyer counts once for popularity', async () => {
    const { id } = await makeListing(ctx, (await makeListedAgent(ctx)).agent.id)
    const buyers = ['user:ada', 'user:ada', 'wallet:x', 'user:ada']
    for (const buyer of buyers) {
      await inTx(async (tx) => {
        await countOrdered(tx, id)
        await countSettled(tx, id, buyer)
        await countRating(tx, id, 4)
      })
    }
    await inTx((tx) => countOrdered(tx, id))
    expect(await findListing(ctx.db, id)).toMatchObject({
      totalOrders: 5,
      completedOrders: 4,
      completedBuyers: 2,
      ratingSum: 16,
      ratingCount: 4,
    })
  })

  test('concurrent updates are all counted, and one buyer counts once', async () => {
    const { id } = await makeListing(ctx, (await makeListedAgent(ctx)).agent.id)
    const one = (n: number) =>
      inTx(async (tx) => {
        await countOrdered(tx, id)
        await countSettled(tx, id, n % 2 === 0 ? 'user:ada' : `user:${n}`)
      })
    await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)))
    const counted = { totalOrders: 20, completedOrders: 20, completedBuyers: 11 }
    expect(await findListing(ctx.db, id)).toMatchObject(counted)
  })

  test('a rolled-back update is not counted', async () => {
    const { id } = await makeListing(ctx, (await makeListedAgent(ctx)).agent.id)
    const broken = inTx(async (tx) => {
      await countOrdered(tx, id)
      await countSettled(tx, id, 'user:ada')
      throw new Error('changed my mind')
    })
    await expect(broken).rejects.toThrow('changed my mind')
    expect(await findListing(ctx.db, id)).toMatchObject({ totalOrders: 0, completedBuyers: 0 })
  })
})

test.each([
  ['listings_price', sql`price_micros = null`],
  ['listings_price_most', sql`price_micros = 1000000000001`],
  ['listings_quota', sql`price_type = 'weekly'`],
  ['listings_requirements', sql`requirement_fields = to_jsonb(array_fill(1, array[13]))`],
])('the database rejects: %s', async (constraint, change) => {
  const { id } = await makeListing(ctx, (await makeListedAgent(ctx)).agent.id)
  const broken = sql`update listings set ${change} where id = ${id}`.execute(ctx.db)
  await expect(broken).rejects.toMatchObject({ constraint })
})
