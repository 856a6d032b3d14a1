import { ExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { CLIENTS, type McpClient } from './mcp-clients.ts'

/** `POST /api/x402/mcp`: two tools, one protocol version, no credentials. */

const BRIEF = 'Read the branch called blue.'
const DUE = 11_000_000n

let world: OrderWorld
let url: string
let serviceId: string
let client: McpClient
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  url = `${world.market.url}/api/x402/mcp`
  serviceId = (await world.newSeller({ price_usd: '10.00', title: 'Reads <b>blue</b> branches' })).serviceId
  client = await CLIENTS['client 2'](url)
})
afterAll(async () => {
  await client.close()
  await world.stop()
})

const post = (message: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })

test.each(Object.entries(CLIENTS))('%s: speaks 2024-11-05 and has exactly two tools', async (_, connect) => {
  const other = await connect(url)
  expect(other.version()).toBe('2024-11-05')
  expect((await other.list()).map(({ name }) => name)).toEqual(['search_agents', 'hire_agent'])
  await other.close()
})

test('plain HTTP: JSON responses, also for another version; errors of JSON-RPC; only POST', async () => {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'curl', version: '1' },
  }
  const reply = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await reply.json()).toMatchObject({
    result: { protocolVersion: '2024-11-05', serverInfo: { name: 'agent-market' } },
  })
  expect(await (await post({ jsonrpc: '2.0', id: 2, method: 'resources/list' })).json()).toMatchObject({
    error: { code: -32_601 },
  })
  const broken = await post('{"jsonrpc":')
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: -32_700 } }])
  expect((await fetch(url)).status).toBe(405)
})

test('search_agents: finds services; text of sellers is marked and cannot end the mark; the limit is 1 to 50', async () => {
  const found = await client.call('search_agents', { query: 'blue', limit: 5 })
  const text = found.content[0]?.text ?? ''
  expect(text).toContain(serviceId)
  expect(text).toContain('Reads \\u003cb>blue')
  expect(text.match(/<\/untrusted_content>/g)).toHaveLength(1)
  const wrong = await client.call('search_agents', { limit: 51 })
  expect([wrong.isError, wrong.content[0]?.text]).toEqual([true, 'limit must be 1-50'])
})

test('hire_agent: the requirements of the chosen chain first, then those of stock clients', async () => {
  const quote = await client.call('hire_agent', { service_id: serviceId, brief: BRIEF, chain: 'base' })
  expect(quote.isError).toBe(true)
  expect(JSON.parse(quote.content[0]?.text ?? '')).toMatchObject({
    ...{ version: '1', scheme: 'exact', network: 'base-mainnet', maxAmountRequired: String(DUE) },
    ...{ asset: { currency: 'USDC' }, payTo: world.treasury },
  })
  expect(quote.structuredContent).toMatchObject({ x402Version: 2 })
  expect(JSON.parse(quote.content[1]?.text ?? '')).toEqual(quote.structuredContent)
  const silent = await client.call('hire_agent', { service_id: serviceId })
  expect(silent.content[0]?.text).toMatch(/^brief is required/)
})

test('hire_agent: a stock x402 client pays in the same call, once', async () => {
  const buyer = await world.newBuyer()
  const stock = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.account) }],
    spendControls: { maxAmountPerPayment: '$20' },
  })
  const args = { service_id: serviceId, brief: BRIEF, chain: 'base' }
  const quote = await client.call('hire_agent', args)
  const payment = await stock.createPaymentPayload(quote.structuredContent)
  const before = await world.chain.balanceOf(buyer.account.address)
  const [hired, again] = [
    await client.call('hire_agent', args, { 'x402/payment': payment }),
    await client.call('hire_agent', args, { 'x402/payment': payment }),
  ]
  expect(hired.isError).not.toBe(true)
  const order = JSON.parse(hired.content[0]?.text ?? '')
  expect(order).toMatchObject({ order_id: expect.stringMatching(/^ord_/), status: 'paid' })
  expect(hired._meta['x402/payment-response']).toMatchObject({ success: true, network: 'eip155:8453' })
  expect(JSON.parse(again.content[0]?.text ?? '').order_id).toBe(order.order_id)
  expect(before - (await world.chain.balanceOf(buyer.account.address))).toBe(DUE)
})

test('hire_agent: a payment from an empty wallet says wallet, network and amounts as the last text', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const stock = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(account) }],
    spendControls: { maxAmountPerPayment: '$20' },
  })
  const args = { service_id: serviceId, brief: BRIEF, chain: 'base' }
  const quote = await client.call('hire_agent', args)
  expect(quote.content).toHaveLength(2)
  const payment = await stock.createPaymentPayload(quote.structuredContent)
  const rejected = await client.call('hire_agent', args, { 'x402/payment': payment })
  expect(rejected.isError).toBe(true)
  expect(rejected.content.at(-1)?.text).toBe(
    `${account.address.toLowerCase()} holds 0.00 USDC on base-mainnet, and 11.00 USDC is due. Send 11.00 USDC to it, then pay again.`,
  )
})
