import { type Status, TRANSITIONS } from '@market/trade/orders'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newBuyer, openOrderFixture } from './order-fixture.ts'
import { OrderModel, orderActs } from './order-model.ts'

const HISTORIES = Number(process.env['ORDER_HISTORIES'] ?? 120)
const SEED = Number(process.env['ORDER_SEED'] ?? 1)
const PARALLEL = 4
const LONGEST = 12

test('orders: for any sequence of actions, deadlines and reorganizations escrow matches the order states and the ledger sums to zero', {
  timeout: 60_000 + HISTORIES * 2_000,
}, async () => {
  const reached = new Set<Status>()
  const runOne = async (_: unknown, n: number) => {
    const fixture = await openOrderFixture()
    try {
      const sellers = [
        await fixture.makeSeller({ turnaroundHours: 1, maxRevisions: 1 }),
        await fixture.makeSeller({ priceType: 'quote', price: null, turnaroundHours: 24, maxRevisions: 0 }),
      ]
      await fc.assert(
        fc.asyncProperty(fc.array(orderActs, { minLength: 4, maxLength: LONGEST }), async (history) => {
          const model = new OrderModel(fixture, sellers, [newBuyer(), newBuyer()])
          await model.step({ act: 'create', seller: history.length % 2, buyer: 0 })
          for (const act of history) {
            await model.step(act)
            for (const { status } of await fixture.expectWhole(model.ids)) reached.add(status)
          }
          await fixture.expectReachable(model.ids)
        }),
        { numRuns: Math.ceil(HISTORIES / PARALLEL), seed: SEED + n },
      )
      await fixture.watch()
      await fixture.expectBalanced()
    } finally {
      await fixture.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
  expect([...reached].toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted())
})
