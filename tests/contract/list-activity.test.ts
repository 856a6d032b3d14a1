import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isDone, type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeAgent, makeUser, someName } from '../support/makers.ts'
import { invalid } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/metrics/activity'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

commonErrors({
  market: () => world.market,
  operation: operations.listActivity,
  good: async () => ({ path: PATH }),
})

const client = () => world.market.client()
const list = (query = '') => client().get(`${PATH}${query}`)

interface Item {
  readonly kind: string
  readonly agent: { readonly agent_id: string; readonly name: string }
  readonly service: { readonly title: string } | null
}

/** The newest entries of one agent, oldest last. */
const itemsOf = async (agentId: string): Promise<Item[]> => {
  const { body } = await list('?limit=100')
  return body.data.filter(({ agent }: Item) => agent.agent_id === agentId)
}

test('200: registration, service, completed order and review, newest first, without the buyer', async () => {
  const parties = await world.newParties()
  const { seller, buyer } = parties
  const id = await world.walk(parties, 'completed')
  await world.walk(parties, 'delivered')
  const review = { rating: 2, comment: 'A private word', ...(await buyer.proof(`orders.review:${id}`)) }
  isDone(await client().post(`/api/orders/${id}/review`, review))

  const { status, body } = await list()
  expect(status).toBe(200)
  const agent = { agent_id: seller.id, name: seller.name, slug: seller.slug, avatar_url: null }
  const service = { service_id: seller.serviceId, title: 'Reviews a pull request' }
  const item = (kind: string, more = {}) => ({
    id: expect.stringMatching(/^act_\d+$/),
    kind,
    at: expect.stringMatching(INSTANT),
    agent,
    service,
    rating: null,
    ...more,
  })
  expect(body).toEqual({
    success: true,
    data: [
      item('review', { rating: 2 }),
      item('order'),
      item('service'),
      item('registration', { service: null }),
    ],
    next_cursor: null,
  })
  const text = JSON.stringify(body)
  for (const secret of [id, buyer.address, buyer.address.toLowerCase(), 'A private word'])
    expect(text).not.toContain(secret)
})

test('200: by kind and in pages', async () => {
  const { seller } = await world.newParties()
  await makeService(world.market, seller)
  const all = (await list('?limit=100')).body.data
  const services = all.filter(({ kind }: Item) => kind === 'service')
  const first = await list('?filter=service&limit=1')
  const rest = await list(`?filter=service&limit=100&cursor=${first.body.next_cursor}`)
  expect([...first.body.data, ...rest.body.data]).toEqual(services)
  expect((await list('?filter=all&limit=100')).body.data).toEqual(all)
  expect((await list('?filter=token_launch')).body).toEqual({ success: true, data: [], next_cursor: null })
})

test('200: a private order and its review are not shown', async () => {
  const parties = await world.newParties({ price_type: 'fixed', price_usd: '25.00' })
  const { seller, buyer } = parties
  const { id } = isDone(await world.order(buyer, seller.serviceId, { private: true })).body.data
  isDone(await world.act(buyer, id, 'pay', { escrow_tx_hash: await world.settled(buyer) }))
  isDone(await world.deliver(seller.apiKey, id))
  isDone(await world.act(buyer, id, 'approve'))
  const proof = await buyer.proof(`orders.review:${id}`)
  isDone(await client().post(`/api/orders/${id}/review`, { rating: 5, ...proof }))
  expect((await itemsOf(seller.id)).map(({ kind }) => kind)).toEqual(['service', 'registration'])
})

test('200: agents and services as they are now; an inactive service is null', async () => {
  const { seller } = await world.newParties()
  const other = await makeService(world.market, seller)
  const name = someName()
  const bearer = seller.apiKey
  isDone(await client().patch('/api/agents/me', { name }, { bearer }))
  isDone(await client().patch(`/api/services/${other.id}`, { title: 'A new title' }, { bearer }))
  isDone(await client().send('DELETE', `/api/services/${seller.serviceId}`, { bearer }))
  const items = await itemsOf(seller.id)
  expect(items.map((item) => [item.kind, item.agent.name, item.service?.title])).toEqual([
    ['service', name, 'A new title'],
    ['service', name, undefined],
    ['registration', name, undefined],
  ])
})

test('200: an agent appears with its first owner, and disappears when the owner deletes the account', async () => {
  const agent = await makeAgent(world.market)
  await makeService(world.market, agent)
  expect(await itemsOf(agent.id)).toEqual([])
  const { token } = await makeUser(world.market)
  isDone(await client().post('/api/agents/link', { api_key: agent.apiKey }, { bearer: token }))
  await makeService(world.market, agent, { title: 'Another review' })
  expect((await itemsOf(agent.id)).map(({ kind }) => kind)).toEqual(['service', 'registration'])
  isDone(await client().send('DELETE', '/api/profile', { bearer: token }))
  expect(await itemsOf(agent.id)).toEqual([])
})

test('400: an invalid filter, limit or cursor', async () => {
  invalid(await list('?filter=orders'), 'filter')
  for (const limit of ['0', '101', 'all']) invalid(await list(`?limit=${limit}`), 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['activity', 1, 1]),
    forgeCursor(['activity', 1, '0']),
    forgeCursor(['activity', 1, '9223372036854775808']),
    forgeCursor(['reviews', 1, '1']),
  ])
    invalid(await list(`?cursor=${cursor}`), 'cursor')
})
