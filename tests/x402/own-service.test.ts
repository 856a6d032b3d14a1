import { createHash } from 'node:crypto'
import { evmSigner } from '@market/testing/evm-signer'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { clientOf } from '../support/stock-client.ts'

/** Purchases without a credential beside the payment: a wallet of the seller's owner cannot pay. */

const BRIEF = 'Read the branch called blue.'
/** 10.00 plus the fee. */
const DUE = 11_000_000n

type Wallet = Awaited<ReturnType<OrderWorld['newBuyer']>>

let world: OrderWorld
let otherService: string
beforeAll(async () => {
  world = await startOrderWorld({ BASE_CONFIRMATIONS: '0:1' }, { gas: true })
  otherService = (await world.newSeller({ price_usd: '10.00' })).serviceId
})
afterAll(() => world.stop())

/** A service of an agent that the wallet owns. */
async function ownedByWallet() {
  const wallet = await world.newBuyer()
  const agent = await makeOwnedAgent(world.market, {}, wallet)
  return { wallet, serviceId: (await makeService(world.market, agent, { price_usd: '10.00' })).id }
}

/** A service of an agent of a user, and a wallet that is linked to the user's account. */
async function ownedByAccount() {
  const wallet = await world.newBuyer()
  const { token } = await makeUser(world.market, { wallets: [wallet.address] })
  const agent = await makeAgent(world.market, { idp_access_token: token })
  await world.market.db
    .updateTable('agents')
    .set({ payout_address_base: evmSigner().address.toLowerCase() })
    .where('id', '=', agent.id)
    .execute()
  return { wallet, serviceId: (await makeService(world.market, agent, { price_usd: '10.00' })).id }
}

const pay = (serviceId: string, headers: Record<string, string>) =>
  world.market.client().post(`/api/x402/pay?service_id=${serviceId}`, { brief: BRIEF }, { headers })

/** The headers of a request that names the transfer, signed by its payer. */
async function signedFor(wallet: Wallet, hash: string, serviceId: string) {
  const words = createHash('sha256').update(BRIEF).digest('hex')
  const proof = await wallet.headers(`x402.pay:base-mainnet:${hash}:${serviceId}:${words}`)
  return { 'x-payment': hash, ...proof }
}

/** A payment of the wallet for us to submit. */
async function signPayment({ account }: Wallet, serviceId: string) {
  const quote = await pay(serviceId, {})
  const required = decodePaymentRequiredHeader(quote.headers.get('payment-required') ?? '')
  return clientOf({ network: 'eip155:8453', client: new ExactEvmScheme(account) }).createPaymentPayload(
    required,
  )
}

const purchasesOf = ({ address }: Wallet) =>
  world.market.db.selectFrom('purchases').select('id').where('payer', '=', address.toLowerCase()).execute()

test('pay: 400 own_service for a transfer of the owner wallet, which stays unused and pays another service', async () => {
  const { wallet, serviceId } = await ownedByWallet()
  const hash = await world.settled(wallet, DUE)
  rejected(await pay(serviceId, { 'x-payment': hash }), 400, 'own_service')
  rejected(await pay(serviceId, await signedFor(wallet, hash, serviceId)), 400, 'own_service')
  expect(await purchasesOf(wallet)).toEqual([])
  const claimed = world.market.db.selectFrom('transfers').select('reference').where('reference', '=', hash)
  expect(await claimed.execute()).toEqual([])
  expect((await pay(otherService, { 'x-payment': hash })).status).toBe(200)
})

test('pay: 400 own_service for a signed payment of the owner wallet, before it is claimed or submitted', async () => {
  const { wallet, serviceId } = await ownedByWallet()
  const before = await world.chain.balanceOf(wallet.account.address)
  const payment = encodePaymentSignatureHeader(await signPayment(wallet, serviceId))
  rejected(await pay(serviceId, { 'payment-signature': payment }), 400, 'own_service')
  expect(await world.chain.balanceOf(wallet.account.address)).toBe(before)
  expect(await purchasesOf(wallet)).toEqual([])
})

test('pay: 400 own_service for a wallet of the owner’s account, only with its signature', async () => {
  const { wallet, serviceId } = await ownedByAccount()
  const hash = await world.settled(wallet, DUE)
  const unsigned = await pay(serviceId, { 'x-payment': hash })
  expect([unsigned.status, unsigned.body.error]).toEqual([402, 'binding_required'])
  rejected(await pay(serviceId, await signedFor(wallet, hash, serviceId)), 400, 'own_service')

  const payment = await signPayment(wallet, serviceId)
  const foreign = await signPayment(await world.newBuyer(), serviceId)
  const forged = { ...payment, payload: { ...payment.payload, signature: foreign.payload['signature'] } }
  const guessed = await pay(serviceId, { 'payment-signature': encodePaymentSignatureHeader(forged) })
  expect(guessed.status).toBe(402)
  const valid = encodePaymentSignatureHeader(payment)
  rejected(await pay(serviceId, { 'payment-signature': valid }), 400, 'own_service')
})

test('pay: 400 own_service when the owner signs for a transfer that bought another service', async () => {
  const { wallet, serviceId } = await ownedByWallet()
  const hash = await world.settled(wallet, DUE)
  const bought = await pay(otherService, { 'x-payment': hash })
  expect(bought.status).toBe(200)
  rejected(await pay(serviceId, await signedFor(wallet, hash, serviceId)), 400, 'own_service')
  const [order] = await world.market.db
    .selectFrom('orders')
    .select(['id', 'status'])
    .where('payment_reference', '=', hash)
    .execute()
  expect(order).toEqual({ id: bought.body.data.order_id, status: 'paid' })
})
