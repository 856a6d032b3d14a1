import type { SettlementOutcome } from '@market/core/ports/facilitator'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { SECOND } from '@market/kernel/clock'
import { checkIntents } from '@market/money/payments'
import { getOrder } from '@market/trade/orders'
import { PURPOSES } from '@market/worker/payment-handlers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { NETWORK, newBuyer, type OrderFixture, openOrderFixture, PRICE } from './order-fixture.ts'

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

describe('a reorganization drops a transfer before it is confirmed: the order shows no confirmations', () => {
  /** An order whose transfer has one confirmation. */
  async function included() {
    const { ctx, chain, clock } = fixture
    const buyer = newBuyer()
    const { id } = await fixture.create(await fixture.makeSeller(), buyer)
    const depth = { confirmations: 1, required: 12 }
    chain.forcedObservation = { kind: 'pending', reason: 'unconfirmed', depth }
    await fixture.pay(buyer, id, fixture.send(buyer.wallet.key, PRICE))
    const check = async (facilitators = {}) => {
      clock.advance(3 * SECOND)
      await checkIntents({ ...ctx, facilitators }, PURPOSES)
      return (await getOrder({ ...ctx, actor: buyer }, buyer, id)).awaited?.depth
    }
    expect(await check()).toEqual(depth)
    return { id, check }
  }
  afterEach(() => {
    fixture.chain.forcedObservation = undefined
  })

  test.each(['reorg', 'in_mempool', 'unknown'] as const)('the node says %s', async (reason) => {
    const { check } = await included()
    fixture.chain.forcedObservation = { kind: 'pending', reason }
    expect(await check()).toBeNull()
  })

  test('a payment that we submit is on the chain no more', async () => {
    const { id, check } = await included()
    const proof = `0x${'2'.repeat(64)}`
    const submitted = { payment: '{}', proof, bytes: '0x01', signed_at_height: 1n }
    await fixture.db.updateTable('payment_intents').set(submitted).where('purpose_id', '=', id).execute()
    const saying = (outcome: SettlementOutcome | ApiError) => ({
      [NETWORK]: {
        observe: async () => {
          if (outcome instanceof ApiError) throw outcome
          return outcome
        },
        send: async () => undefined,
      },
    })
    const shown = expect.objectContaining({ confirmations: 1 })
    expect(await check(saying(unavailable('The node is away')))).toEqual(shown)
    expect(await check(saying({ kind: 'unknown' }))).toBeNull()
  })
})
