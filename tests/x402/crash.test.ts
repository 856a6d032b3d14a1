import { startTcpProxy } from '@market/testing/tcp-proxy'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { x402Client } from '@x402/fetch'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { client } from '../support/client.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'

/** A process killed between accepting a payment and creating the order: the buyer gets the order and is charged once. */

const BRIEF = 'Read the branch called blue.'
const DUE = 11_000_000n
const LEASE_MS = 31_000

let world: OrderWorld
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
let buyer: Awaited<ReturnType<OrderWorld['newBuyer']>>
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  seller = await world.newSeller({ price_usd: '10.00' })
  buyer = await world.newBuyer()
})
afterAll(() => world.stop())
beforeEach(() => world.chain.automine(true))

const path = () => `/api/x402/pay?service_id=${seller.serviceId}`

/** A separate API process on the same database, to be killed. */
async function anotherApi(overrides: Record<string, string> = {}) {
  const api = await startApi({ ...world.market.environment, ...overrides })
  onTestFinished(() => api.stop())
  return api
}

async function signPayment(): Promise<string> {
  const stock = x402Client.fromConfig({
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(buyer.account) }],
    spendControls: { maxAmountPerPayment: '$20' },
  })
  const quote = await world.market.client().post(path(), { brief: BRIEF })
  const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
  return encodePaymentSignatureHeader(await stock.createPaymentPayload(required))
}

const hire = (url: string, payment: string) =>
  client(url).post(path(), { brief: BRIEF }, { headers: { 'payment-signature': payment } })

const newest = async () =>
  world.market.db.selectFrom('purchases').selectAll().orderBy('created_at', 'desc').executeTakeFirst()

/** Sends the request to an API that is killed when the payment reaches this state. */
async function hireAndDie(payment: string, state: string, api: Awaited<ReturnType<typeof anotherApi>>) {
  const before = (await newest())?.id
  const asking = hire(api.url, payment).catch(() => undefined)
  await until('it is there', async () => {
    const hired = await newest()
    return hired?.id !== before && hired?.state === state
  })
  api.kill('SIGKILL')
  await api.exited
  expect(await asking).toBeUndefined()
}

const treasury = () => world.chain.balanceOf(world.treasury)
const ordersOf = async (reference: string) =>
  world.market.db.selectFrom('orders').select('id').where('payment_reference', '=', reference).execute()

test('API killed after broadcast: repeating the request returns the order and one payment is made', async () => {
  const payment = await signPayment()
  const before = await treasury()
  await world.chain.automine(false)
  await hireAndDie(payment, 'sent', await anotherApi())
  await world.chain.automine(true)
  await world.chain.mine(2)
  const retried = await Promise.all([hire(world.market.url, payment), hire(world.market.url, payment)])
  expect(retried.map(({ status }) => status)).toEqual([200, 200])
  expect((await treasury()) - before).toBe(DUE)
  expect(await ordersOf((await newest())?.reference ?? '')).toHaveLength(1)
  expect(retried[0]?.body.data.order_id).toBe(retried[1]?.body.data.order_id)
})

test('API killed before signing: nothing is paid, and a later repetition starts again', async () => {
  const payment = await signPayment()
  const before = await treasury()
  const node = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(world.chain.url).port) })
  onTestFinished(() => node.stop())
  const api = await anotherApi({ BASE_RPC_URLS: `http://127.0.0.1:${node.port}`, TIMEOUT_FACTOR: '10' })
  node.set({ blackhole: true })
  await hireAndDie(payment, 'claimed', api)
  expect(await treasury()).toBe(before)
  await world.advance(LEASE_MS)
  const retried = await hire(world.market.url, payment)
  expect(retried.status).toBe(200)
  expect((await treasury()) - before).toBe(DUE)
})

test('API killed without a repetition: a worker without a gas key completes the purchase', async () => {
  const payment = await signPayment()
  const before = await treasury()
  await world.chain.automine(false)
  await hireAndDie(payment, 'sent', await anotherApi())
  // The node dropped it too, so only the database has it.
  await world.chain.rpc('anvil_dropAllTransactions')
  await world.chain.automine(true)
  await world.market.startWorker()
  await until('the worker has seen it through', async () => (await newest())?.state === 'done', {
    withinMs: 30_000,
  })
  expect((await treasury()) - before).toBe(DUE)
  const again = await hire(world.market.url, payment)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
})
