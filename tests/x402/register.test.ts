import { randomUUID } from 'node:crypto'
import { evmChain } from '@market/chains/evm/evm-chain'
import { HOUR, MINUTE, systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { recheckTransfers } from '@market/money/payments'
import { PURPOSES } from '@market/worker/payment-handlers'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'

/** Agent registration paid with the request. */

const FEE = 1_000_000n

let world: OrderWorld
let buyer: Awaited<ReturnType<OrderWorld['newBuyer']>>
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  buyer = await world.newBuyer()
})
afterAll(() => world.stop())

const wanted = () => ({ name: someName(), description: DESCRIPTION })

const register = (
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
  path = '/api/agents/register?pay=x402',
) => world.market.client().post(path, body, { headers })

const ledgerOf = async (kind: string) => {
  const { db } = world.market
  const rows = await db.selectFrom('ledger_accounts').selectAll().where('kind', '=', kind).execute()
  return rows.reduce((sum, { balance_micros }) => sum + balance_micros, 0n)
}

test('returns 402 with a price of 1 USDC when the query or the body requests payment', async () => {
  const asked = [
    await register(wanted()),
    await register({ ...wanted(), pay_to_register: true }, {}, '/api/agents/register'),
  ]
  for (const { status, body, headers } of asked) {
    expect(status).toBe(402)
    const { extensions } = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
    expect(extensions?.['bazaar']).toMatchObject({
      info: { input: { body: { name: expect.any(String), description: expect.any(String) } } },
    })
    expect(body).toMatchObject({
      x402Version: 1,
      accepts: [{ network: 'base-mainnet', maxAmountRequired: '1000000' }],
    })
  }
})

test('the payer owns the agent; the API key is returned once, and again only for the same Idempotency-Key', async () => {
  const body = wanted()
  const before = await ledgerOf('fees')
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
  expect((await ledgerOf('fees')) - before).toBe(FEE)

  const again = await register(body, { 'x-payment': hash })
  expect(again.status).toBe(200)
  expect(again.body.data).toMatchObject({ agent_id: reply.body.data.agent_id })
  expect(JSON.stringify(again.body)).not.toContain('market_')

  const named = wanted()
  const headers = { 'x-payment': await world.settled(buyer, FEE), 'idempotency-key': randomUUID() }
  const first = await register(named, headers)
  const second = await register(named, headers)
  expect(second.body.data.api_key).toBe(first.body.data.api_key)
  expect((await register(named, { 'x-payment': headers['x-payment'] })).status).toBe(409)
})

test('registers with the signed payment of an unmodified client', async () => {
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

/** A quote and a payment with its reference. */
async function payByReference(body: Record<string, unknown>, amount: bigint) {
  const { headers } = await register(body)
  const given = (name: string) => headers.get(`x-market-payment-${name}`) ?? ''
  const args = [world.treasury, amount] as const
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const attached = Buffer.from(given('reference'), 'base64url').toString('hex')
  const hash = await world.chain.call(buyer.account, world.chain.usdc, `${call}${attached}` as Hex)
  await world.chain.mine(2)
  return { hash, headers: { 'x-payment': hash, 'x-payment-claim': given('claim') } }
}

test('a payment with a reference registers only with its claim', async () => {
  const body = wanted()
  const { hash, headers } = await payByReference(body, FEE)
  const rejected = await register(body, { 'x-payment': hash })
  expect(rejected).toMatchObject({ status: 402, body: { error: 'claim_required' } })
  expect((await register(body, headers)).status).toBe(201)
})

/** The final chain is past the block of a missing payment, so it is reversed. */
async function missPayments() {
  const { db, now } = world.market
  const clock = { ...systemClock, now: () => new Date(now()) }
  const base = evmChain({
    ...{
      network: 'base-mainnet',
      chainId: 8453,
      rpcUrls: [world.chain.url],
      minProviders: 1,
      usdc: world.chain.usdc,
    },
    ...{ treasury: world.treasury, minPayout: usdc(0n), confirmations: [{ from: usdc(0n), blocks: 1 }] },
    ...{ finalityTag: 'finalized', ownAddresses: [] },
  })
  const ctx = { db, clock, ids: idSource(clock), chains: { 'base-mainnet': base } }
  await world.chain.mine(FINALITY)
  await world.market.advance(11 * MINUTE)
  await recheckTransfers(ctx, PURPOSES)
}

test('surplus is refunded; a reorganized fee is reversed together with its refund', async () => {
  const before = await Promise.all(['world', 'fees', 'payable', 'escrow', 'surplus'].map(ledgerOf))
  const body = wanted()
  const { headers } = await payByReference(body, FEE + 500_000n)
  const reply = await register(body, headers)
  expect(reply.status).toBe(201)
  const surplus = () =>
    world.market.db
      .selectFrom('payouts')
      .select(['state', 'amount_micros', 'payee'])
      .where('kind', '=', 'surplus')
      .execute()
  const payee = buyer.address.toLowerCase()
  expect(await surplus()).toEqual([{ state: 'queued', amount_micros: 500_000n, payee }])
  expect((await ledgerOf('fees')) - (before[1] ?? 0n)).toBe(FEE)

  await world.chain.reorg(4)
  await missPayments()
  expect(await surplus()).toMatchObject([{ state: 'withdrawn' }])
  const after = await Promise.all(['world', 'fees', 'payable', 'escrow', 'surplus'].map(ledgerOf))
  expect(after).toEqual(before)
  const owned = await world.market.client().get(`/api/agents/${reply.body.data.agent_id}`)
  expect(owned.status).toBe(200)
})

test('a taken name is rejected before payment', async () => {
  const body = wanted()
  await register(body, { 'x-payment': await world.settled(buyer, FEE) })
  const hash = await world.settled(buyer, FEE)
  expect((await register(body)).status).toBe(409)
  expect((await register(body, { 'x-payment': hash })).status).toBe(409)
  expect((await register(wanted(), { 'x-payment': hash })).status).toBe(201)
})

test('a purchase’s payment cannot register, and a registration’s payment cannot buy', async () => {
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

// Last: it moves the chain's clock, and clients sign by the real one.
test('a repeated registration returns no key that replaced the first one, and none after 24 hours', async () => {
  for (const end of ['rotate', 'wait'] as const) {
    const owner = await world.newBuyer()
    const headers = { 'x-payment': await world.settled(owner, FEE), 'idempotency-key': randomUUID() }
    const body = wanted()
    const { agent_id, api_key } = (await register(body, headers)).body.data
    expect((await register(body, headers)).body.data.api_key).toBe(api_key)
    const proof = await owner.proof(`agents.rotate-key:${agent_id}`)
    if (end === 'rotate') await world.market.client().post(`/api/agents/${agent_id}/rotate-key`, proof)
    else await world.advance(25 * HOUR)
    const again = await register(body, headers)
    expect([again.status, again.body.data.agent_id]).toEqual([200, agent_id])
    expect(JSON.stringify(again.body)).not.toMatch(/market_\w{20}|whsec_/)
  }
})
