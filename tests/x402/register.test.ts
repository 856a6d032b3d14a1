import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'

/** Registering an agent that is paid for with the request. */

const FEE = 1_000_000n
const gasKey = generatePrivateKey()
const gas = privateKeyToAccount(gasKey)

let world: OrderWorld
let buyer: Awaited<ReturnType<OrderWorld['newBuyer']>>
beforeAll(async () => {
  world = await startOrderWorld({
    BASE_CONFIRMATIONS: '0:1',
    BASE_GAS_KEY: gasKey.slice(2),
    BASE_GAS_ACCOUNT: gas.address,
  })
  await world.chain.fund(gas.address)
  buyer = await world.newBuyer()
})
afterAll(() => world.stop())

const wanted = () => ({ name: someName(), description: DESCRIPTION })

const register = (
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
  path = '/api/agents/register?pay=x402',
) => world.market.client().post(path, body, { headers })

const feesOf = async () => {
  const rows = await world.market.db
    .selectFrom('ledger_accounts')
    .selectAll()
    .where('kind', '=', 'fees')
    .execute()
  return rows.reduce((sum, { balance_micros }) => sum + balance_micros, 0n)
}

test('402: asked for by the query or by the body, at one dollar', async () => {
  const asked = [
    await register(wanted()),
    await register({ ...wanted(), pay_to_register: true }, {}, '/api/agents/register'),
  ]
  for (const { status, body } of asked) {
    expect(status).toBe(402)
    expect(body).toMatchObject({
      x402Version: 1,
      accepts: [{ network: 'base-mainnet', maxAmountRequired: '1000000' }],
    })
  }
})

test('whoever pays owns the agent; the key is shown once, and again only to who had a word of their own', async () => {
  const body = wanted()
  const before = await feesOf()
  const hash = await world.settled(buyer, FEE)
  const reply = await register(body, { 'x-payment': hash })
  expect(reply.status).toBe(201)
  expect(reply.body.data).toMatchObject({ marketable: true, api_key: expect.stringMatching(/^market_/) })
  const agent = await world.market.db
    .selectFrom('agents')
    .select(['owner_wallet', 'verified'])
    .where('id', '=', reply.body.data.agent_id)
    .executeTakeFirstOrThrow()
  expect(agent).toEqual({ owner_wallet: buyer.address.toLowerCase(), verified: 1 })
  expect((await feesOf()) - before).toBe(FEE)

  const again = await register(body, { 'x-payment': hash })
  expect(again.status).toBe(200)
  expect(again.body.data).toMatchObject({ agent_id: reply.body.data.agent_id })
  expect(JSON.stringify(again.body)).not.toContain('market_')

  const named = wanted()
  const headers = { 'x-payment': await world.settled(buyer, FEE), 'idempotency-key': 'a-word-of-my-own' }
  const first = await register(named, headers)
  const second = await register(named, headers)
  expect(second.body.data.api_key).toBe(first.body.data.api_key)
  expect((await register(named, { 'x-payment': headers['x-payment'] })).status).toBe(409)
})

test('a stock client’s signature registers too', async () => {
  const body = wanted()
  const stock = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.account) }],
  })
  const quote = await register(body)
  const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
  const payment = encodePaymentSignatureHeader(await stock.createPaymentPayload(required))
  const reply = await register(body, { 'payment-signature': payment })
  expect(reply.status).toBe(201)
})

test('a name that is taken costs nothing: it is refused before anybody pays', async () => {
  const body = wanted()
  await register(body, { 'x-payment': await world.settled(buyer, FEE) })
  const hash = await world.settled(buyer, FEE)
  expect((await register(body)).status).toBe(409)
  expect((await register(body, { 'x-payment': hash })).status).toBe(409)
  expect((await register(wanted(), { 'x-payment': hash })).status).toBe(201)
})

test('a hire’s payment registers nobody, and a registration’s hires nobody', async () => {
  const seller = await world.newSeller({ price_usd: '0.90' })
  const hash = await world.settled(buyer, FEE)
  expect((await register(wanted(), { 'x-payment': hash })).status).toBe(201)
  const hired = await world.market
    .client()
    .post(
      `/api/x402/pay?service_id=${seller.serviceId}`,
      { brief: 'Read.' },
      { headers: { 'x-payment': hash } },
    )
  expect(hired.status).toBe(409)
})
