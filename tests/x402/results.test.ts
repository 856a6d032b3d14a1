import { setTimeout as wait } from 'node:timers/promises'
import { NETWORKS, type Network } from '@market/kernel/network'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { client, type Reply, someAddress } from '../support/client.ts'
import { startApi } from '../support/processes.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import type { Buyer, EvmBuyer } from './buyers.ts'
import { encodePayment, opened, type Payment } from './crafted-payments.ts'
import { BRIEF, DUE, decoded, json, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** The expected result of each payment, numbered as in the table of results. */

const OTHER = 'Something else.'
const USED = { status: 409, body: { code: 'payment_already_used' } }

let world: PurchaseWorld
let serviceId: string
let buyers: { [N in Network]: Awaited<ReturnType<PurchaseWorld['places'][N]['newBuyer']>> }
/** Signed at the start of the file and sent after it expired. */
let stale: { readonly payment: string; readonly until: bigint }
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
  buyers = {
    'base-mainnet': await world.places['base-mainnet'].newBuyer(),
    'alt-mainnet': await world.places['alt-mainnet'].newBuyer(),
    'solana-mainnet': await world.places['solana-mainnet'].newBuyer(),
  }
  const payment = await world.signPayment(serviceId, buyers['solana-mainnet'])
  const { value } = await world.solana.chain.rpc.getLatestBlockhash().send()
  stale = { payment, until: value.lastValidBlockHeight }
})
afterAll(() => world.stop())

const everyBuyer = (): Buyer[] => NETWORKS.map((network) => buyers[network])
const evmBuyers = (): EvmBuyer[] => [buyers['base-mainnet'], buyers['alt-mainnet']]
const chainOf = ({ network }: Pick<Buyer, 'network'>) => (network === 'base-mainnet' ? world.base : world.alt)

test('result 1: an unmodified client buys through GET discover, POST pay and POST orders', async () => {
  const url = (path: string) => `${world.market.url}${path}`
  for (const { paying } of everyBuyer()) {
    const brief = encodeURIComponent(BRIEF)
    const headers = { 'x-forwarded-for': someAddress() }
    const replies = [
      await paying(url(`/api/x402/discover/${serviceId}?brief=${brief}`), { headers }),
      await paying(url(world.payPath(serviceId)), json({ brief: BRIEF })),
      await paying(url('/api/orders'), json({ service_id: serviceId, brief: BRIEF })),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 201])
  }
})

test('result 2: the buyer needs no native coin; our account pays the gas within the limit', async () => {
  for (const buyer of evmBuyers()) {
    const { chain, gas } = chainOf(buyer)
    const coin = async () => BigInt(String(await chain.rpc('eth_getBalance', [gas, 'latest'])))
    const [fresh, before] = [await world.places[buyer.network].newBuyer(), await coin()]
    const { headers } = await world.buyWithSignature(serviceId, await world.signPayment(serviceId, fresh))
    expect(await fresh.coin()).toBe(0n)
    expect(await coin()).toBeLessThan(before)
    const { transaction } = decoded(headers, 'payment-response')
    const receipt = (await chain.rpc('eth_getTransactionReceipt', [transaction])) as { gasUsed: string }
    expect(Number(receipt.gasUsed)).toBeLessThan(100_000)
  }
  const { chain, gas } = world.solana
  const coin = async () => (await chain.rpc.getBalance(gas as never).send()).value
  const [fresh, before] = [await world.places['solana-mainnet'].newBuyer(), await coin()]
  expect((await world.buyWithSignature(serviceId, await world.signPayment(serviceId, fresh))).status).toBe(
    200,
  )
  expect(await fresh.coin()).toBe(0n)
  // The fee of two signatures plus a small priority fee.
  expect(before - (await coin())).toBeLessThanOrEqual(10_100n)
})

test('result 3: eight concurrent copies of one signed payment make one order and one transaction', async () => {
  for (const buyer of everyBuyer()) {
    const payment = await world.signPayment(serviceId, buyer)
    const sent = async () =>
      buyer.network === 'solana-mainnet'
        ? 0
        : Number(await chainOf(buyer).chain.rpc('eth_getTransactionCount', [chainOf(buyer).gas, 'latest']))
    const [had, before] = [await buyer.usdc(), await sent()]
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => world.buyWithSignature(serviceId, payment)),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(replies.map(({ body }) => body.data.order_id)).size).toBe(1)
    expect(had - (await buyer.usdc())).toBe(DUE)
    if (buyer.network !== 'solana-mainnet') expect((await sent()) - before).toBe(1)
  }
})

test('result 4: the same payment with another brief, or for an equal service, is rejected', async () => {
  const twin = await world.newSeller()
  for (const buyer of everyBuyer()) {
    const payment = await world.signPayment(serviceId, buyer)
    expect((await world.buyWithSignature(serviceId, payment)).status).toBe(200)
    expect(await world.buyWithSignature(serviceId, payment, { brief: OTHER })).toMatchObject(USED)
    expect(await world.buyWithSignature(twin.serviceId, payment)).toMatchObject(USED)
    expect(await world.buyWithSignature(serviceId, payment, { brief: `  ${BRIEF}\n` })).toMatchObject({
      status: 200,
    })
  }
})

test('result 5: a transaction that we settled is rejected as a proof of payment', async () => {
  for (const buyer of everyBuyer()) {
    const { headers } = await world.buyWithSignature(serviceId, await world.signPayment(serviceId, buyer))
    const { transaction } = decoded(headers, 'payment-response')
    expect(await world.buyWithTransfer(serviceId, buyer, String(transaction))).toMatchObject(USED)
  }
})

const KEY = { 'idempotency-key': 'a-key-of-the-buyer-that-nobody-guesses' }

test('result 6: a transfer buys once; the same brief and key return the order, another brief contests it', async () => {
  for (const buyer of everyBuyer()) {
    const reference = await buyer.send(DUE)
    const replies: Reply[] = []
    for (const brief of [BRIEF, BRIEF, OTHER])
      replies.push(await world.buyWithTransfer(serviceId, buyer, reference, { brief, headers: KEY }))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 409])
    expect(replies[1]?.body).toEqual(replies[0]?.body)
    expect(replies[1]?.headers.get('idempotent-replayed')).toBe('true')
    expect(await world.ordersOf(reference)).toHaveLength(1)
  }
})

test('result 7: a payment whose accepted requirement differs in any field is rejected', async () => {
  for (const buyer of everyBuyer()) {
    const payment = opened(await world.signPayment(serviceId, buyer))
    const had = await buyer.usdc()
    const changes = {
      amount: String(DUE - 1n),
      payTo: buyer.address,
      asset: buyer.address,
      network: 'eip155:1',
      scheme: 'upto',
    }
    for (const [field, value] of Object.entries(changes)) {
      const accepted = { ...payment.accepted, [field]: value }
      const reply = await world.buyWithSignature(serviceId, encodePayment({ ...payment, accepted }))
      expect([field, reply.status, reply.body.error]).toEqual([field, 402, 'no_matching_requirements'])
    }
    expect(await buyer.usdc()).toBe(had)
    expect((await world.buyWithSignature(serviceId, encodePayment(payment))).status).toBe(200)
  }
})

test('result 8: an authorization changed after signing is rejected with the reason', async () => {
  const changes: readonly (readonly [string, (one: Payment['payload']) => object])[] = [
    ['payload_authorization_value_mismatch', ({ authorization: a }) => ({ ...a, value: String(DUE - 1n) })],
    ['payload_authorization_valid_before', ({ authorization: a }) => ({ ...a, validBefore: '1' })],
    [
      'signature',
      ({ authorization: a }) => ({ ...a, validBefore: String(Math.floor(Date.now() / 1_000) + 100) }),
    ],
    ['recipient_mismatch', ({ authorization: a }) => ({ ...a, to: a.from })],
    ['signature', ({ authorization: a }) => ({ ...a, nonce: `0x${'11'.repeat(32)}` })],
  ]
  for (const buyer of evmBuyers()) {
    const payment = opened(await world.signPayment(serviceId, buyer))
    for (const [why, change] of changes) {
      const payload = { ...payment.payload, authorization: change(payment.payload) }
      const reply = await world.buyWithSignature(serviceId, encodePayment({ ...payment, payload }))
      expect([reply.status, reply.body.error]).toEqual([402, `invalid_exact_evm_${why}`])
    }
    // None of these requests used the payment.
    expect((await world.buyWithSignature(serviceId, encodePayment(payment))).status).toBe(200)
  }
})

test('result 9: every API instance returns 202 while no block is mined, then the same order', async () => {
  const api = await startApi(world.market.environment)
  onTestFinished(() => api.stop())
  const buyer = buyers['base-mainnet']
  const payment = await world.signPayment(serviceId, buyer)
  const had = await buyer.usdc()
  await world.base.chain.automine(false)
  const short = await world.market.startApi(SHORT_WAIT)
  const first = await world.buyWithSignature(serviceId, payment, { api: short })
  const settled = decoded(first.headers, 'payment-response')
  expect([first.status, settled]).toMatchObject([202, { errorReason: 'settlement_pending' }])
  await world.base.chain.automine(true)
  await world.base.chain.mine(1)
  const elsewhere = await client(api.url).post(
    world.payPath(serviceId),
    { brief: BRIEF },
    { headers: { 'payment-signature': payment } },
  )
  const again = await world.buyWithSignature(serviceId, payment)
  expect([elsewhere.status, again.status]).toEqual([200, 200])
  expect(again.body).toEqual(elsewhere.body)
  const arrived = decoded(elsewhere.headers, 'payment-response')
  expect(arrived).toMatchObject({ success: true, transaction: settled['transaction'] })
  expect(had - (await buyer.usdc())).toBe(DUE)
})

test('result 10: an expired Solana payment is rejected, and a new one is accepted', async () => {
  const buyer = buyers['solana-mainnet']
  const { rpc } = world.solana.chain
  while ((await rpc.getBlockHeight().send()) <= stale.until) await wait(100)
  const had = await buyer.usdc()
  expect(await world.buyWithSignature(serviceId, stale.payment)).toMatchObject({
    status: 402,
    body: { error: 'invalid_exact_svm_transaction_simulation_failed' },
  })
  expect(await buyer.usdc()).toBe(had)
  expect((await world.buyWithSignature(serviceId, await world.signPayment(serviceId, buyer))).status).toBe(
    200,
  )
})
