import type { BrowserWallet, SignedPayment } from '@market/sdk/wallets'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type InjectedEvmWallet, injectSolanaWallet } from '../support/injected-wallets.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { BRIEF, type PurchaseWorld, startPurchaseWorld } from '../x402/purchase-world.ts'
import { said, signedOrders, walletOf } from './signed-orders.ts'

/** Orders that are paid at the listed price with a payment that a wallet of the SDK signed. */

const PRICE = 10_000_000n

let world: PurchaseWorld
let seller: Awaited<ReturnType<PurchaseWorld['newSeller']>>
let orders: Awaited<ReturnType<typeof signedOrders>>
let buyer: typeof orders.buyer
let injected: InjectedEvmWallet
let wallet: BrowserWallet
let held: () => Promise<bigint>

beforeAll(async () => {
  world = await startPurchaseWorld()
  seller = await world.newSeller()
  orders = await signedOrders(world.market as never, world.solana.chain.chain.url)
  ;({ buyer } = orders)
  ;({ evm: injected, wallet, held } = await orders.newWallet(world.base.chain, 20n * PRICE))
})
afterAll(() => world.stop())

const signFor = (by: BrowserWallet, network = 'base-mainnet') =>
  orders.signFor(by, seller.serviceId, { network })
const asked = (signed_payment?: SignedPayment, fields: object = {}) => ({
  service_id: seller.serviceId,
  brief: BRIEF,
  ...(signed_payment && { signed_payment }),
  ...fields,
})
const create: typeof orders.create = (...given) => orders.create(...given)
const pay: typeof orders.pay = (...given) => orders.pay(...given)
const newOrder = () => orders.newOrder(seller.serviceId)

test('createOrder: is paid at the listed price with one window of the wallet, which is not linked', async () => {
  const before = await held()
  const { status, body } = await create(asked(await signFor(wallet)))
  expect([status, body.data.status, body.data.price_usd]).toEqual([201, 'paid', '10.00'])
  expect(body.data).toMatchObject({
    payer_proven: true,
    payment_method: null,
    payment_network: 'base-mainnet',
  })
  expect(before - (await held())).toBe(PRICE)
  expect(injected.prompts).toEqual(['connect', 'payment'])
})

test('pay: on Solana a Wallet Standard wallet pays what the order asks for', async () => {
  const page = new EventTarget()
  const solana = await injectSolanaWallet()
  solana.install(page)
  await world.solana.chain.usdc.fund(solana.address, PRICE)
  const reply = await pay(await newOrder(), await signFor(walletOf(page), 'solana-mainnet'))
  expect([reply.status, reply.body.data?.status, reply.body.code]).toEqual([200, 'paid', undefined])
  expect(await world.solana.chain.usdc.balanceOf(solana.address)).toBe(0n)
  expect(solana.prompts).toEqual(['connect', 'payment'])
})

test('pay: on the third network a wallet of another network switches to it', async () => {
  const { evm, wallet: other } = await orders.newWallet(world.alt.chain, PRICE)
  evm.chainId = 1
  evm.knownChains.add(world.alt.chain.chainId)
  const reply = await pay(await newOrder(), await signFor(other, 'alt-mainnet'))
  expect([reply.status, reply.body.data?.status]).toEqual([200, 'paid'])
  expect(evm.prompts).toEqual(['connect', 'switch', 'payment'])
})

test('the same request again, at once and later, leads to the same order and pays once', async () => {
  const signed = await signFor(wallet)
  const before = await held()
  const replies = await Promise.all([1, 2, 3].map(() => create(asked(signed))))
  const again = await create(asked(signed))
  const ids = new Set([...replies, again].map(({ body }) => body.data?.id))
  expect([ids.size, before - (await held())]).toEqual([1, PRICE])
  const [id] = [...ids]
  expect((await pay(id, signed)).body.data.id).toBe(id)
  const key = { ...buyer, key: crypto.randomUUID() }
  const next = await signFor(wallet)
  const first = await create(asked(next), key)
  expect((await create(asked(next), key)).body.data.id).toBe(first.body.data.id)
  expect(before - (await held())).toBe(2n * PRICE)
})

test('a signed payment pays one thing: another order, request or buyer gets 409', async () => {
  const signed = await signFor(wallet)
  await create(asked(signed))
  const other = { bearer: (await makeOwnedAgent(world.market as never)).apiKey }
  const replies = [
    await pay(await newOrder(), signed),
    await create(asked(signed, { brief: 'Something else, please.' })),
    await create(asked(signed), other),
  ]
  expect(replies.map(said)).toEqual(Array(3).fill([409, 'payment_already_used']))
})

test('two payments race for one order: one is charged', async () => {
  const id = await newOrder()
  const [one, two] = [await signFor(wallet), await signFor(wallet)]
  const before = await held()
  const replies = await Promise.all([pay(id, one), pay(id, two)])
  expect(replies.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1)
  expect(before - (await held())).toBe(PRICE)
})

test('pay: a price that changed is rejected with the current one, and nothing is charged', async () => {
  const signed = await signFor(wallet)
  const dearer = await world.newSeller({ price_usd: '12.00' })
  const before = await held()
  const reply = await create({ ...asked(signed), service_id: dearer.serviceId })
  expect(said(reply)).toEqual([409, 'price_changed'])
  expect(reply.body.error).toContain('signed for 10.00 USDC but 12.00 USDC is due')
  expect(await held()).toBe(before)
})

const change = (signed: SignedPayment, payload: object, accepted: object = {}): SignedPayment => ({
  ...signed,
  accepted: { ...signed.accepted, ...accepted },
  payload: {
    ...signed.payload,
    authorization: { ...(signed.payload['authorization'] as object), ...payload },
  },
})

test.each([
  ['another network', {}, { network: 'eip155:1' }, 'network_not_accepted'],
  ['another payee in the requirement', {}, { payTo: `0x${'1'.repeat(40)}` }, 'payment_rejected'],
  ['another asset', {}, { asset: `0x${'1'.repeat(40)}` }, 'payment_rejected'],
  ['another payee', { to: `0x${'1'.repeat(40)}` }, {}, 'payment_rejected'],
  ['another amount', { value: '1' }, {}, 'payment_rejected'],
  ['an expired authorization', { validBefore: '1' }, {}, 'payment_rejected'],
  ['a signature of something else', { nonce: `0x${'1'.repeat(64)}` }, {}, 'payment_rejected'],
  ['no authorization', { from: 'x' }, {}, 'malformed_payment'],
])('createOrder: %s is 400 and creates no order', async (_, payload, accepted, code) => {
  const orders = () => world.market.db.selectFrom('orders').select('id').execute()
  const before = await orders()
  const reply = await create(asked(change(await signFor(wallet), payload, accepted)))
  expect(said(reply)).toEqual([400, code])
  expect(await orders()).toHaveLength(before.length)
})

test('too little USDC: 400 names the wallet, the network and what is missing', async () => {
  const { evm, wallet: poor } = await orders.newWallet(world.base.chain, PRICE / 2n)
  const reply = await create(asked(await signFor(poor)))
  expect(said(reply)).toEqual([400, 'insufficient_funds'])
  expect(reply.body.error).toContain(`${evm.account.address.toLowerCase()} holds 5.00 USDC on base-mainnet`)
})

test('an order without a listed price, one that is cancelled, and one of another buyer are rejected', async () => {
  const quoting = await world.newSeller({ price_type: 'quote', price_usd: undefined })
  const signed = await signFor(wallet)
  const id = await newOrder()
  await world.client().patch(`/api/orders/${id}`, { action: 'cancel' }, buyer)
  expect(said(await create({ ...asked(signed), service_id: quoting.serviceId }))).toEqual([
    400,
    'no_listed_price',
  ])
  expect(said(await pay(id, signed))).toEqual([400, 'illegal_transition'])
  expect((await world.client().get(`/api/services/${quoting.serviceId}`)).body.data.payment).toEqual([])
  const stranger = { bearer: (await makeOwnedAgent(world.market as never)).apiKey }
  expect(said(await pay(await newOrder(), signed, stranger))).toEqual([404, 'order_not_found'])
})

test('not mined within the wait: 202, no second payment, and a worker completes it', async () => {
  const id = await newOrder()
  const { client } = await world.market.startApi(SHORT_WAIT)
  await world.base.chain.automine(false)
  const signed = await signFor(wallet)
  const sent = await pay(id, signed, buyer, client())
  expect([sent.status, sent.body.data.status]).toEqual([202, 'accepted'])
  expect(sent.body.data).toMatchObject({ pending_tx_hash: expect.stringMatching(/^0x/), payment: [] })
  expect(said(await pay(id, await signFor(wallet), buyer, client()))).toEqual([409, 'payment_in_progress'])
  const named = { action: 'pay', escrow_tx_hash: `0x${'7'.repeat(64)}`, payment_network: 'base-mainnet' }
  expect(said(await client().patch(`/api/orders/${id}`, named, buyer))[0]).not.toBe(202)
  expect((await pay(id, signed, buyer, client())).status).toBe(202)
  await world.base.chain.automine(true)
  await world.market.startWorker()
  await world.base.chain.mine(2)
  await until(
    'the worker completes the payment',
    async () => (await world.client().get(`/api/orders/${id}`, buyer)).body.data.order.status === 'paid',
  )
})

test('acts: pay says that signed_payment replaces escrow_tx_hash', async () => {
  const page = await world.client().get(`/api/orders/${await newOrder()}`, buyer)
  const act = page.body.data.acts.find(({ action }: { action: string }) => action === 'pay')
  expect(
    act.fields.map((one: Record<string, unknown>) => [one['name'], one['required'], one['instead_of']]),
  ).toEqual([
    ['escrow_tx_hash', true, null],
    ['payment_network', false, null],
    ['signed_payment', false, 'escrow_tx_hash'],
  ])
})
