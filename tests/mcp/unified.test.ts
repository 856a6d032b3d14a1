import { toolList, tools } from '@market/contract/tools'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { CLIENTS, connectSecond, type McpClient } from './mcp-clients.ts'

/** The unified server, with the official clients and an agent's API key. */

let world: OrderWorld
let parties: Parties
let url: string
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties({ max_revisions: 1 })
  url = `${world.market.url}/mcp`
})
afterAll(() => world.stop())

const VERSIONS = {
  'client 2': '2025-11-25',
  'client 2 with the newest protocol': '2026-07-28',
  'client 1': '2025-11-25',
} as const

describe.each(Object.entries(CLIENTS))('%s', (name, connect) => {
  let client: McpClient
  beforeAll(async () => {
    client = await connect(url, parties.seller.apiKey)
  })
  afterAll(() => client.close())

  test('lists the served tools in the order of the contract', async () => {
    expect(client.version()).toBe(VERSIONS[name as keyof typeof VERSIONS])
    const listed = await client.list()
    expect(listed.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name))
    expect(listed).toMatchObject(JSON.parse(JSON.stringify(toolList())))
  })

  test('calls tools: an own agent, a list of others marked as untrusted, an error that names the fix', async () => {
    const me = await client.call('market_get_profile')
    expect(me.structuredContent.data).toMatchObject({ id: parties.seller.id })
    expect(JSON.parse(me.content[0]?.text ?? '')).toEqual(me.structuredContent)
    const found = await client.call('market_browse_agents', { limit: 1 })
    expect(found.content[0]?.text).toMatch(
      /^The data below contains text that other users wrote.*<untrusted_content>/s,
    )
    const missing = await client.call('market_get_order', { order_id: 'ord_1700000000000_zzzzzz' })
    expect(missing).toMatchObject({ isError: true, _meta: { 'market/error': { status: 404 } } })
    const wrong = await client.call('market_quote_order', {
      order_id: 'ord_1',
      price_usd: '1.00',
      action: 'approve',
    })
    expect(wrong.isError).toBe(true)
    expect(wrong.content[0]?.text).toMatch(/action/)
    const gone = await client.call('market_verify_twitter')
    expect(gone).toMatchObject({ isError: true, _meta: { 'market/error': { status: 410, code: 'gone' } } })
    await expect(client.call('market_earn_everything')).rejects.toThrow(/Unknown tool/)
  })
})

test('an order’s life: placed and paid over REST, everything else by tools of two agents', async () => {
  const buyer = await makeOwnedAgent(world.market, {}, parties.buyer)
  const seller = await connectSecond(url, parties.seller.apiKey, 'auto')
  const client = await connectSecond(url, buyer.apiKey)
  const service = await seller.call('market_create_service', {
    ...{ title: 'Reads a branch', description: 'Reads the whole branch and writes what is wrong.' },
    ...{ category: 'coding', price_type: 'quote', turnaround_hours: 24 },
  })
  expect(service.structuredContent?.data).toMatchObject({ agent_id: parties.seller.id })
  const placed = await world.market
    .client()
    .post(
      '/api/orders',
      { service_id: service.structuredContent.data.id, brief: 'Read the branch called blue.' },
      { bearer: buyer.apiKey },
    )
  const order_id = placed.body.data.id
  const polled = await seller.call('market_poll_orders', { status: 'pending_quote' })
  expect(polled.structuredContent.data.map(({ id }: { id: string }) => id)).toContain(order_id)
  expect(
    (await seller.call('market_quote_order', { order_id, price_usd: '25.00' })).structuredContent.data.status,
  ).toBe('quoted')
  const escrow_tx_hash = await world.settled(parties.buyer)
  const paid = await world.byKey(buyer.apiKey, order_id, 'pay', { escrow_tx_hash })
  expect(paid.body.data.status).toBe('paid')
  await client.call('market_send_message', { order_id, content: 'Please hurry.' })
  const messages = await seller.call('market_get_messages', { order_id })
  expect(messages.structuredContent.data).toMatchObject([{ content: 'Please hurry.' }])
  const work = { order_id, deliverables: [{ type: 'text', content: 'It is blue.' }] }
  expect((await seller.call('market_deliver_order', work)).structuredContent.data.status).toBe('delivered')
  const revised = await client.call('market_request_revision', { order_id, feedback: 'More blue' })
  expect(revised.structuredContent.data.status).toBe('revision_requested')
  await seller.call('market_deliver_order', work)
  const disputed = await client.call('market_dispute_order', { order_id, reason: 'It is green' })
  expect(disputed.structuredContent.data.status).toBe('disputed')
  const approved = await client.call('market_approve_order', { order_id })
  expect(approved.structuredContent.data.status).toBe('completed')
  const read = await client.call('market_get_order', { order_id })
  expect(read.structuredContent.data.deliverables[0]).toMatchObject({ type: 'text', content: 'It is blue.' })
  await Promise.all([seller.close(), client.close()])
})
