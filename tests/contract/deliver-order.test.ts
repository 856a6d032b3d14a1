import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DELIVERY, type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent, signOnce } from '../support/makers.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const HOUR = 3_600_000

let world: OrderWorld
let parties: Parties
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/orders/${id}/deliver`
const deliver = (id: string, body: unknown, ask: RequestOptions = { bearer: parties.seller.apiKey }) =>
  world.market.client().post(pathOf(id), body, ask)

commonWriteErrors({
  market: () => world.market,
  operation: operations.deliverOrder,
  good: async () => ({
    path: pathOf(await world.walk(parties, 'paid')),
    body: DELIVERY,
    ask: { bearer: parties.seller.apiKey },
  }),
  other: (call) => ({ ...call, body: { ...DELIVERY, note: 'The first one' } }),
})

const read = async (id: string) => {
  const reply = await world.market
    .client()
    .get(`/api/orders/${id}`, { headers: await parties.buyer.headers() })
  return reply.body.data
}

test('200: one deliverable_url starts a review of two days and notifies the buyer', async () => {
  const id = await world.walk(parties, 'paid')
  const before = world.market.now()
  const { status, body } = await deliver(id, {
    ...DELIVERY,
    deliverable_media_type: 'image/png',
    note: 'Done',
  })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ status: 'delivered', outcome: null })
  const left = Date.parse(body.data.review_ends_at) - before
  expect(left).toBeGreaterThanOrEqual(48 * HOUR)
  expect(left).toBeLessThan(48 * HOUR + 60_000)
  expect((await read(id)).deliverables).toMatchObject([
    { type: 'image', url: DELIVERY.deliverable_url, media_type: 'image/png' },
  ])
  const inbox = await world.market
    .client()
    .get('/api/notifications', { headers: await parties.buyer.headers() })
  expect(inbox.body.data[0]).toMatchObject({ kind: 'order.delivered', data: { order_id: id } })
})

test('200: deliverables of every type by the owner; a second delivery replaces the first, which stays readable', async () => {
  const id = await world.walk(parties, 'in_progress')
  const deliverables = [
    { type: 'text', content: 'All is well.\nReally.' },
    { type: 'code', content: 'let a = 1', title: 'a.ts', media_type: 'text/plain' },
    { type: 'document', url: 'https://hooks.example/d.pdf', sha256: 'a'.repeat(64) },
  ]
  const headers = await signOnce(world.market, parties.seller.owner, `orders.deliver:${id}`)
  expect((await deliver(id, { deliverables }, { headers })).status).toBe(200)
  expect((await read(id)).deliverables).toMatchObject(deliverables)
  expect((await deliver(id, { ...DELIVERY, note: 'Better' })).status).toBe(200)
  const after = await read(id)
  expect(after.deliverables).toMatchObject([{ type: 'link', url: DELIVERY.deliverable_url }])
  expect(after.deliveries).toMatchObject([
    { n: 1, note: null, deliverables },
    { n: 2, note: 'Better' },
  ])
})

test('400: no deliverable, both forms, too many, and deliverables that are invalid for their type', async () => {
  const id = await world.walk(parties, 'paid')
  const link = { type: 'link', url: 'https://hooks.example/x' }
  for (const body of [{}, { ...DELIVERY, deliverables: [link] }])
    invalid(await deliver(id, body), 'deliverables')
  const several = (...deliverables: object[]) => deliver(id, { deliverables })
  invalid(await several(), 'deliverables')
  invalid(await several(...Array.from({ length: 21 }, () => link)), 'deliverables')
  invalid(await several({ type: 'link' }), 'deliverables.0')
  invalid(await several(link, { type: 'image', content: 'text' }), 'deliverables.1')
  invalid(await several({ ...link, url: 'http://hooks.example/x' }), 'deliverables.0.url')
  invalid(await several({ ...link, sha256: 'no' }), 'deliverables.0.sha256')
  invalid(await several({ type: 'text', content: 'x'.repeat(100_001) }), 'deliverables.0.content')
})

test('400: an order that is not paid', async () => {
  rejected(await deliver(await world.walk(parties, 'quoted'), DELIVERY), 400, 'illegal_transition')
})

test('403: the buyer, and an admin key', async () => {
  const id = await world.walk(parties, 'paid')
  const headers = await parties.buyer.headers(`orders.deliver:${id}`)
  rejected(await deliver(id, DELIVERY, { headers }), 403, 'not_your_act')
  rejected(await deliver(id, DELIVERY, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: the same message for a missing order and an order of other parties', async () => {
  const { apiKey } = await makeOwnedAgent(world.market)
  for (const unknown of [NO_ORDER, await world.walk(parties, 'paid')]) {
    const reply = await deliver(unknown, DELIVERY, { bearer: apiKey })
    rejected(reply, 404, 'order_not_found')
    expect(reply.body.error).toBe(`Order "${unknown}" does not exist.`)
  }
})

test('409: more than 50 deliveries of one order', async () => {
  const id = await world.walk(parties, 'paid')
  const rows = Array.from({ length: 50 }, (_, n) => ({
    ...{
      order_id: id,
      n: n + 1,
      note: null,
      items: JSON.stringify([{ type: 'link', url: 'https://hooks.example/x' }]),
      at: new Date(world.market.now()),
    },
  }))
  await world.market.db.insertInto('order_deliveries').values(rows).execute()
  rejected(await deliver(id, DELIVERY), 409, 'too_many_deliveries')
})
