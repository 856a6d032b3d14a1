import type { Db } from '@market/database/transact'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newBuyer, openOrderFixture } from '../orders/order-fixture.ts'
import { OrderModel, orderActs } from '../orders/order-model.ts'
import { type MarketAct, MarketModel, marketActs } from './market-model.ts'
import { expectExact } from './recount.ts'

const HISTORIES = Number(process.env['STATISTICS_HISTORIES'] ?? 60)
const SEED = Number(process.env['STATISTICS_SEED'] ?? 1)
const PARALLEL = 4
const LONGEST = 24

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ order: orderActs }) },
    { weight: 2, arbitrary: fc.record({ market: marketActs }) },
  ),
  { minLength: 8, maxLength: LONGEST },
)

const actionsFrom = async (db: Db, status: string): Promise<string[]> => {
  const steps = db.selectFrom('order_steps').select('action').distinct().where('from_status', '=', status)
  return (await steps.execute()).map(({ action }) => action)
}

test('statistics: equal a recount of the rows after any sequence of what changes them', {
  timeout: 60_000 + HISTORIES * 4_000,
}, async () => {
  const done = new Set<MarketAct['act']>()
  const undone = new Set<string>()
  let kills = 0
  const runOne = async (_: unknown, n: number) => {
    const fixture = await openOrderFixture()
    try {
      const seller = await fixture.makeSeller({ turnaroundHours: 1, maxRevisions: 1 })
      const sellers = [
        seller,
        await fixture.makeSeller({ priceType: 'quote', price: null, turnaroundHours: 24, maxRevisions: 0 }),
      ]
      await fc.assert(
        fc.asyncProperty(steps, async (history) => {
          const orders = new OrderModel(fixture, sellers, [newBuyer(), newBuyer()])
          const market = new MarketModel(fixture, orders, seller)
          await orders.step({ act: 'create', seller: history.length % 2, buyer: 0 })
          for (const step of history) {
            if ('order' in step) await orders.step(step.order)
            else {
              await market.step(step.market)
              done.add(step.market.act)
            }
          }
          await expectExact(fixture.db)
          kills += market.kills
        }),
        { numRuns: Math.ceil(HISTORIES / PARALLEL), seed: SEED + n },
      )
      await fixture.expectBalanced()
      for (const action of await actionsFrom(fixture.db, 'completed')) undone.add(action)
    } finally {
      await fixture.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  expect(done.size).toBe(11)
  expect(kills).toBeGreaterThan(0)
  // A completed order was reversed by its chain, and decided anew both ways.
  expect([...undone]).toEqual(expect.arrayContaining(['undo', 'award', 'reverse']))
})
