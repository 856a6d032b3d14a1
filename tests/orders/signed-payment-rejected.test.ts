import { sendUnmined } from '@market/money/payments'
import type { SignedPayment } from '@market/sdk/wallets'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { makeOwnedAgent, signed } from '../support/makers.ts'
import { whileOn } from '../support/operator.ts'
import { BRIEF } from '../support/orders.ts'
import { makeService } from '../support/services.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { sweepContext } from '../support/sweep-context.ts'
import { cancelCall, encodePayment, frontRun } from '../x402/crafted-payments.ts'
import { type OrderWorld, startOrderWorld } from './order-world.ts'
import { said, signedOrders } from './signed-orders.ts'

/** Signed payments of orders that are rejected, or that the chain does not execute: nothing is charged. */

const PRICE = 10_000_000n
const HOUR = 3_600_000

let world: OrderWorld
let orders: Awaited<ReturnType<typeof signedOrders>>
let seller: Awaited<ReturnType<OrderWorld['newSeller']>>
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  orders = await signedOrders(world.market as never)
  seller = await world.newSeller({ price_usd: '10.00' })
})
afterAll(() => world.stop())

const newWallet = (payments = 1n, key?: Hex) => orders.newWallet(world.chain, payments * PRICE, key)
const newOrder = (fields?: object) => orders.newOrder(seller.serviceId, fields)
const create = (signed_payment: SignedPayment, fields: object = {}) =>
  orders.create({ service_id: seller.serviceId, brief: BRIEF, signed_payment, ...fields })
const authorizationIn = ({ payload }: SignedPayment) =>
  payload['authorization'] as { readonly from: Address; readonly nonce: Hex }

test('the wallet of the seller’s owner: 400 own_service, only with its signature', async () => {
  const key = generatePrivateKey()
  const owner = privateKeyToAccount(key)
  const signer = { address: owner.address, sign: (message: string) => owner.signMessage({ message }) }
  const agent = await makeOwnedAgent(world.market, {}, signer as never)
  const { id: serviceId } = await makeService(world.market, agent, { price_usd: '10.00' })
  const { wallet, held } = await newWallet(1n, key)
  const payment = await orders.signFor(wallet, serviceId)
  const id = await orders.newOrder(serviceId)
  const replies = [await create(payment, { service_id: serviceId }), await orders.pay(id, payment)]
  expect(replies.map(said)).toEqual(Array(2).fill([400, 'own_service']))
  const foreign = await orders.signFor((await newWallet()).wallet, serviceId)
  const forged = { ...payment, payload: { ...payment.payload, signature: foreign.payload['signature'] } }
  expect(said(await orders.pay(id, forged))).toEqual([400, 'payment_rejected'])
  expect(await held()).toBe(PRICE)
})

test('an authorization that its wallet cancelled: 409 payment_already_used', async () => {
  const { evm, wallet, held } = await newWallet()
  const payment = await orders.signFor(wallet, seller.serviceId)
  await world.chain.fund(evm.account.address)
  const { nonce } = authorizationIn(payment)
  await world.chain.call(evm.account, world.chain.usdc, await cancelCall(world.chain, evm.account, nonce))
  const reply = await create(payment)
  expect(said(reply)).toEqual([409, 'payment_already_used'])
  expect(reply.body.error).toContain('sign a new payment')
  expect(await held()).toBe(PRICE)
})

test('an authorization that somebody else submitted: 409, and its transaction pays the order once it is named', async () => {
  const { evm, wallet, held } = await newWallet()
  const id = await newOrder()
  const payment = await orders.signOrder(wallet, id)
  const hash = await frontRun(world.chain, privateKeyToAccount(generatePrivateKey()), encodePayment(payment))
  const reply = await orders.pay(id, payment)
  expect(said(reply)).toEqual([409, 'payment_already_used'])
  expect(reply.body.error).toContain('`escrow_tx_hash`')
  const signer = {
    address: evm.account.address,
    sign: (message: string) => evm.account.signMessage({ message }),
  }
  const named = { action: 'pay', escrow_tx_hash: hash, ...(await signed(signer, `orders.pay:${id}`)) }
  const paid = await world.market.client().patch(`/api/orders/${id}`, named, orders.buyer)
  expect([paid.status, paid.body.data?.status]).toEqual([200, 'paid'])
  expect(await held()).toBe(0n)
})

test('the price rises after the signature: 409 price_changed for a new order; an order keeps its price', async () => {
  const dearer = await world.newSeller({ price_usd: '10.00' })
  const { wallet, held } = await newWallet(2n)
  const payment = await orders.signFor(wallet, dearer.serviceId)
  const id = await orders.newOrder(dearer.serviceId)
  const path = `/api/services/${dearer.serviceId}`
  await world.market.client().patch(path, { price_usd: '12.00' }, { bearer: dearer.apiKey })
  const reply = await create(payment, { service_id: dearer.serviceId })
  expect(said(reply)).toEqual([409, 'price_changed'])
  expect(reply.body.error).toContain('signed for 10.00 USDC but 12.00 USDC is due')
  expect(await held()).toBe(2n * PRICE)
  expect((await orders.pay(id, payment)).body.data?.status).toBe('paid')
  expect(await held()).toBe(PRICE)
})

test('the service is withdrawn after the signature: 404 for a new order; an order can still be paid', async () => {
  const leaving = await world.newSeller({ price_usd: '10.00' })
  const { wallet, held } = await newWallet()
  const payment = await orders.signFor(wallet, leaving.serviceId)
  const id = await orders.newOrder(leaving.serviceId)
  const path = `/api/services/${leaving.serviceId}`
  await world.market.client().send('DELETE', path, { bearer: leaving.apiKey })
  expect(said(await create(payment, { service_id: leaving.serviceId }))).toEqual([404, 'service_not_found'])
  expect(await held()).toBe(PRICE)
  expect((await orders.pay(id, payment)).body.data?.status).toBe('paid')
})

test('the agent cannot pay with its own key: 403, and another user’s order does not exist', async () => {
  const { wallet, held } = await newWallet()
  const id = await newOrder()
  const payment = await orders.signOrder(wallet, id)
  expect((await orders.pay(id, payment, { bearer: seller.apiKey })).status).toBe(403)
  const other = { bearer: (await makeOwnedAgent(world.market)).apiKey }
  expect(said(await orders.pay(id, payment, other))).toEqual([404, 'order_not_found'])
  expect(await held()).toBe(PRICE)
})

test('a wallet that the issuer of USDC blocks: 400 payment_rejected says so', async () => {
  const { evm, wallet, held } = await newWallet()
  const payment = await orders.signFor(wallet, seller.serviceId)
  await world.chain.deny(evm.account.address, true)
  const reply = await create(payment)
  expect(said(reply)).toEqual([400, 'payment_rejected'])
  expect(reply.body.error).toContain('USDC blocks the wallet')
  await world.chain.deny(evm.account.address, false)
  expect(await held()).toBe(PRICE)
  expect((await create(payment)).status).toBe(201)
})

test('a private order is paid like any other, and stays private', async () => {
  const { wallet, held } = await newWallet()
  const reply = await create(await orders.signFor(wallet, seller.serviceId), { private: true })
  expect(reply.body.data).toMatchObject({ status: 'paid', private: true })
  expect(await held()).toBe(0n)
})

test('freeze_intake stops new orders; an order can be paid. read_only stops both, and the payment can be used later', async () => {
  const { wallet, held } = await newWallet(2n)
  const id = await newOrder()
  const [first, second] = [await orders.signOrder(wallet, id), await orders.signFor(wallet, seller.serviceId)]
  await whileOn(world.market, 'read_only', async () => {
    expect(said(await orders.pay(id, first))).toEqual([503, 'read_only'])
    expect(said(await create(second))).toEqual([503, 'read_only'])
  })
  await whileOn(world.market, 'freeze_intake', async () => {
    expect(said(await create(second))).toEqual([503, 'freeze_intake'])
    expect(await held()).toBe(2n * PRICE)
    expect((await orders.pay(id, first)).body.data?.status).toBe('paid')
  })
  expect((await create(second)).body.data?.status).toBe('paid')
  expect(await held()).toBe(0n)
})

/** Submits payments that no block gets, and lets the chain go on without them. */
async function withoutBlocks(pays: () => Promise<unknown>, meanwhile: () => Promise<unknown>): Promise<void> {
  await world.chain.automine(false)
  await pays()
  await world.chain.rpc('anvil_dropAllTransactions')
  await meanwhile()
  await world.chain.mine(FINALITY + 1)
  await world.chain.automine(true)
}

/** What the worker does, so that no nonce of the gas account stays unused. */
const sendDropped = async () => sendUnmined(await sweepContext(world))

test('an authorization expires before a block has it: 400 payment_void, and a new one pays the order', async () => {
  const { wallet, held } = await newWallet()
  const id = await newOrder()
  const { client } = await world.market.startApi(SHORT_WAIT)
  const payment = await orders.signOrder(wallet, id, { changes: { maxTimeoutSeconds: 10 } })
  await withoutBlocks(
    async () => expect((await orders.pay(id, payment, orders.buyer, client())).status).toBe(202),
    async () => {
      expect((await orders.payAct(id)).why_not.code).toBe('payment_in_progress')
      await world.chain.rpc('evm_increaseTime', [60])
    },
  )
  const reply = await orders.pay(id, payment)
  expect(said(reply)).toEqual([400, 'payment_void'])
  expect(reply.body.error).toContain('the authorization expired')
  const { order, pending_payment } = await orders.read(id)
  expect([order.status, pending_payment, (await orders.payAct(id)).why_not]).toEqual(['accepted', null, null])
  expect(order.payment_error).toContain('the authorization expired')
  await sendDropped()
  expect((await orders.pay(id, await orders.signOrder(wallet, id))).body.data?.status).toBe('paid')
  expect(await held()).toBe(0n)
})

// The clock never goes back, so tests that advance it are last.
test('a quote expires after the signature and the agent asks more: 409 price_changed', async () => {
  const quoting = await world.newSeller({ price_type: 'quote', price_usd: undefined })
  const { wallet, held } = await newWallet(2n)
  const id = await orders.newOrder(quoting.serviceId)
  const quote = (price_usd: string) => world.quote(quoting.apiKey, id, { price_usd, expires_in_hours: 1 })
  await quote('10.00')
  const payment = await orders.signOrder(wallet, id)
  await world.market.advance(2 * HOUR)
  expect((await orders.pay(id, payment)).status).toBe(400)
  await quote('12.00')
  expect(said(await orders.pay(id, payment))).toEqual([409, 'price_changed'])
  expect(await held()).toBe(2n * PRICE)
})

const FAILED = 5

test('five payments of a wallet fail on the chain: the sixth is 409 for an hour, and other wallets still pay', async () => {
  const { evm, wallet, held } = await newWallet(BigInt(FAILED))
  const { client } = await world.market.startApi(SHORT_WAIT)
  const failing = await Promise.all(
    Array.from({ length: FAILED }, async () => {
      const id = await newOrder()
      return { id, payment: await orders.signOrder(wallet, id) }
    }),
  )
  await withoutBlocks(
    () => Promise.all(failing.map(({ id, payment }) => orders.pay(id, payment, orders.buyer, client()))),
    async () => {
      const cancels = failing.map(({ payment }) =>
        cancelCall(world.chain, evm.account, authorizationIn(payment).nonce),
      )
      await world.chain.callMany(world.chain.usdc, await Promise.all(cancels))
    },
  )
  const replies = await Promise.all(failing.map(({ id, payment }) => orders.pay(id, payment)))
  expect(replies.map(said)).toEqual(Array(FAILED).fill([400, 'payment_void']))
  await sendDropped()
  const id = await newOrder()
  const sixth = await orders.pay(id, await orders.signOrder(wallet, id))
  expect(said(sixth)).toEqual([409, 'too_many_failed_payments'])
  expect(sixth.body.error).toContain('pay with a transfer')
  expect(await held()).toBe(BigInt(FAILED) * PRICE)
  const { wallet: other } = await newWallet()
  expect((await create(await orders.signFor(other, seller.serviceId))).body.data?.status).toBe('paid')
  await world.market.advance(2 * HOUR)
  expect((await orders.pay(id, await orders.signOrder(wallet, id))).body.data?.status).toBe('paid')
})
