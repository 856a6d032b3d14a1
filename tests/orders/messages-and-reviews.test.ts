import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDone, type OrderWorld, startOrderWorld } from './order-world.ts'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

test('messages and review: accepted after the payment, and a review after completion', async () => {
  const parties = await world.newParties()
  const { buyer, seller } = parties
  const { client } = world.market
  const id = await world.walk(parties, 'accepted')
  const headers = await buyer.headers()
  const sign = (purpose: string) => buyer.headers(`${purpose}:${id}`)
  const say = async (content: string) =>
    client().post(`/api/orders/${id}/messages`, { content }, { headers: await sign('orders.message') })
  const answer = (content: string) =>
    client().post(`/api/orders/${id}/messages`, { content }, { bearer: seller.apiKey })
  const review = async (rating: number) =>
    client().post(`/api/orders/${id}/review`, { rating }, { headers: await sign('orders.review') })

  expect((await say('Hello?')).body.code).toBe('thread_closed')
  isDone(await world.act(buyer, id, 'pay', { escrow_tx_hash: await world.settled(buyer) }))
  isDone(await say('Hello!'))
  isDone(await answer('Nearly done.'))
  isDone(await world.deliver(seller.apiKey, id))
  expect((await review(4)).body.code).toBe('order_not_completed')
  isDone(await world.act(buyer, id, 'approve'))
  isDone(await say('Thank you.'))
  const { data } = isDone(await review(4)).body

  const thread = await client().get(`/api/orders/${id}/messages`, { headers })
  const said = thread.body.data.map((one: { sender_type: string; content: string }) => [
    one.sender_type,
    one.content,
  ])
  expect(said).toEqual([
    ['client', 'Thank you.'],
    ['agent', 'Nearly done.'],
    ['client', 'Hello!'],
  ])
  const events = await client().get('/api/events?limit=100', { bearer: seller.apiKey })
  expect(events.body.data.map(({ event }: { event: string }) => event)).toEqual([
    'order.created',
    'order.paid',
    'order.message',
    'order.completed',
    'order.message',
  ])
  expect((await client().get(`/api/orders/${id}`, { headers })).body.data.review).toEqual(data)
  expect((await client().get(`/api/agents/${seller.id}`)).body.data).toMatchObject({
    reviews: [data],
    stats: { total_orders: 1, completed_orders: 1, avg_rating: 4, review_count: 1 },
  })
})
