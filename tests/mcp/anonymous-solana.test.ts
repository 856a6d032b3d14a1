import { afterAll, beforeAll, expect, test } from 'vitest'
import { BRIEF, DUE, type PurchaseWorld, startPurchaseWorld } from '../x402/purchase-world.ts'
import { CLIENTS, type McpClient } from './mcp-clients.ts'

/** `hire_agent` of `POST /api/x402/mcp` with payments on Solana. */

let world: PurchaseWorld
let serviceId: string
let client: McpClient
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
  client = await CLIENTS['client 2'](`${world.market.url}/api/x402/mcp`)
})
afterAll(async () => {
  await client?.close()
  await world?.stop()
})

const orderIdOf = (text: string | undefined): string => JSON.parse(text ?? '{}').order_id

test('hire_agent: without a chain, the requirements are those of Solana', async () => {
  const { treasury, usdc } = world.places['solana-mainnet']
  const quote = await client.call('hire_agent', { service_id: serviceId, brief: BRIEF })
  expect(quote.isError).toBe(true)
  expect(JSON.parse(quote.content[0]?.text ?? '')).toMatchObject({
    ...{ network: 'solana-mainnet', maxAmountRequired: String(DUE), payTo: treasury },
    asset: { currency: 'USDC', address: usdc },
  })
})

test('hire_agent: a stock x402 client pays on Solana in the same call, once and without SOL', async () => {
  const { newBuyer, caip2 } = world.places['solana-mainnet']
  const buyer = await newBuyer()
  const args = { service_id: serviceId, brief: BRIEF, chain: 'solana' }
  const quote = await client.call('hire_agent', args)
  const payment = await buyer.stock.createPaymentPayload(quote.structuredContent)
  const had = await buyer.usdc()
  const [hired, again] = [
    await client.call('hire_agent', args, { 'x402/payment': payment }),
    await client.call('hire_agent', args, { 'x402/payment': payment }),
  ]
  expect([hired.isError, hired.content[0]?.text]).toEqual([undefined, expect.stringContaining('"paid"')])
  const settled = hired._meta['x402/payment-response']
  expect(settled).toMatchObject({ success: true, network: caip2, payer: buyer.address })
  expect(await world.ordersOf(settled.transaction)).toMatchObject([
    { id: orderIdOf(hired.content[0]?.text), status: 'paid', payment_network: 'solana-mainnet' },
  ])
  expect(orderIdOf(again.content[0]?.text)).toBe(orderIdOf(hired.content[0]?.text))
  expect([had - (await buyer.usdc()), await buyer.coin()]).toEqual([DUE, 0n])
})

test('hire_agent: a payment for one service does not hire another', async () => {
  const other = (await world.newSeller({ title: 'Reads green branches' })).serviceId
  const buyer = await world.places['solana-mainnet'].newBuyer()
  const quote = await client.call('hire_agent', { service_id: serviceId, brief: BRIEF })
  const payment = await buyer.stock.createPaymentPayload(quote.structuredContent)
  const meta = { 'x402/payment': payment }
  const first = await client.call('hire_agent', { service_id: serviceId, brief: BRIEF }, meta)
  const second = await client.call('hire_agent', { service_id: other, brief: BRIEF }, meta)
  expect([first.isError, second.isError]).toEqual([undefined, true])
  const had = await buyer.usdc()
  expect(await world.ordersOf(first._meta['x402/payment-response'].transaction)).toHaveLength(1)
  expect(await buyer.usdc()).toBe(had)
})
