import { SECOND } from '@market/kernel/clock'
import { getOrder } from '@market/trade/orders'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer, type OrderFixture, openOrderFixture, PRICE } from './order-fixture.ts'

let fixture: OrderFixture
beforeAll(async () => {
  fixture = await openOrderFixture()
})
afterAll(() => fixture.stop())

test('an order shows how deep its named transfer was at the last check, until it is paid', async () => {
  const { ctx, chain, clock } = fixture
  const buyer = newBuyer()
  const seller = await fixture.makeSeller()
  const { id } = await fixture.create(seller, buyer)
  const reference = fixture.send(buyer.wallet.key, PRICE)
  const read = async () => (await getOrder({ ...ctx, actor: buyer }, buyer, id)).awaited
  expect(await read()).toBeUndefined()
  chain.forcedObservation = { kind: 'pending', reason: 'unknown' }
  await fixture.pay(buyer, id, reference)
  expect(await read()).toMatchObject({ reference, depth: null, since: clock.now() })
  for (const depth of [
    { confirmations: 1, required: 12 },
    { confirmations: 7, required: 12 },
    { confirmations: 7, required: null },
  ]) {
    chain.forcedObservation = { kind: 'pending', reason: 'unconfirmed', depth }
    clock.advance(3 * SECOND)
    await fixture.finish()
    expect(await read()).toMatchObject({ reference, depth })
  }
  chain.forcedObservation = undefined
  clock.advance(3 * SECOND)
  await fixture.finish()
  expect((await fixture.read(id)).status).toBe('paid')
  expect(await read()).toBeUndefined()
})
