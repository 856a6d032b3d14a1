import { createHash } from 'node:crypto'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import type { Reply } from '../support/client.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'

/** A transfer that another caller named for an own order: its payer can take it back until it is paid out. */

const BRIEF = 'Read the branch called blue.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n

let world: OrderWorld
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
beforeAll(async () => {
  world = await startOrderWorld()
  seller = await world.newSeller({ price_usd: '10.00' })
})
afterAll(() => world.stop())

const client = () => world.market.client()
const body = () => ({ service_id: seller.serviceId, brief: BRIEF })
const rowOf = (id: string) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const isContested = ({ status, body }: Reply) =>
  expect([status, body.code]).toEqual([409, 'payment_contested'])

async function paid() {
  const buyer = await world.newBuyer()
  return { buyer, hash: await world.settled(buyer, DUE) }
}

test.each(['delivered', 'revision_requested', 'disputed'] as const)(
  'the payer of an order that another caller placed can sign for something else while it is %s',
  async (status) => {
    const { buyer, hash } = await paid()
    const other = await makeOwnedAgent(world.market)
    const headers = { 'x-payment': hash }
    const { body: placed } = await client().post('/api/orders', body(), { bearer: other.apiKey, headers })
    const id = placed.data.order_id
    await world.deliver(seller.apiKey, id)
    if (status === 'revision_requested')
      await world.byKey(other.apiKey, id, 'revision', { feedback: 'More blue' })
    if (status === 'disputed') await world.byKey(other.apiKey, id, 'dispute', { reason: 'Not blue' })
    expect((await rowOf(id)).status).toBe(status)

    const wanted = { service_id: seller.serviceId, brief: 'Read the branch called green.' }
    isContested(await client().post('/api/orders', wanted, { headers }))
    isContested(await world.byKey(other.apiKey, id, 'approve'))
    const words = createHash('sha256').update(wanted.brief).digest('hex')
    const signature = await buyer.proof(`x402.pay:base-mainnet:${hash}:${seller.serviceId}:${words}`)
    const reply = await client().post('/api/orders', { ...wanted, ...signature }, { headers })
    expect(reply.status).toBe(201)
    expect(await rowOf(reply.body.data.order_id)).toMatchObject({ status: 'paid', payer_proven: true })
    expect((await rowOf(id)).status).toBe('cancelled')
  },
)

test('a contested delivery is not released when its review ends, and an arbiter can decide', async () => {
  const { hash } = await paid()
  const other = await makeOwnedAgent(world.market)
  const headers = { 'x-payment': hash }
  const { body: placed } = await client().post('/api/orders', body(), { bearer: other.apiKey, headers })
  const id = placed.data.order_id
  await world.deliver(seller.apiKey, id)
  rejected(await world.resolve(id, { outcome: 'release' }), 400, 'illegal_transition')
  const wanted = { service_id: seller.serviceId, brief: 'Read the branch called red.' }
  isContested(await client().post('/api/orders', wanted, { headers }))
  await world.advance(49 * HOUR)
  isContested(await world.byKey(other.apiKey, id, 'approve'))
  expect((await rowOf(id)).status).toBe('delivered')
  const decided = await world.resolve(id, { outcome: 'refund' })
  expect([decided.status, decided.body.data.status]).toEqual([200, 'cancelled'])
})
