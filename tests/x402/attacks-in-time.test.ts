import { setTimeout as wait } from 'node:timers/promises'
import { openChains } from '@market/api/chains'
import { readConfig } from '@market/api/config'
import { NETWORKS } from '@market/kernel/network'
import { getBase58Decoder } from '@solana/kit'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../support/client.ts'
import { BASE_URL, SHORT_WAIT } from '../support/settings.ts'
import type { EvmBuyer } from './buyers.ts'
import { cancelCall, frontRun, inFlight, opened, proofIn, withName, withToken } from './crafted-payments.ts'
import { BRIEF, DUE, decoded, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** Attacks that use timing: a slow chain, a reorganization or conflicting transactions. */

const OTHER = 'Something else.'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FINALITY = 9
/** From this amount on, a payment on Base counts only when it is final. */
const LARGE = { price_usd: '20.00', due: 22_000_000n }

let world: PurchaseWorld
let serviceId: string
let buyer: EvmBuyer
beforeAll(async () => {
  world = await startPurchaseWorld({ BASE_CONFIRMATIONS: '0:1,20:final' })
  serviceId = (await world.newSeller()).serviceId
  buyer = await world.places['base-mainnet'].newBuyer()
})
afterAll(() => world.stop())

const rejected = (why: string) => ({ status: 402, body: { error: why } })
const ordersOf = async (who: EvmBuyer) =>
  world.market.db
    .selectFrom('orders')
    .selectAll()
    .where('buyer', '=', `wallet:${who.address.toLowerCase()}`)
    .execute()
const purchaseOf = (payment: string) =>
  world.market.db.selectFrom('purchases').selectAll().where('proof', '=', proofIn(payment)).executeTakeFirst()

test('attack 11: a reorganized payment counts when it is included again, a large one when it is final', async () => {
  const { chain } = world.base
  const reference = await buyer.send(DUE)
  const bytes = await chain.rpc('eth_getRawTransactionByHash', [reference])
  await chain.reorg(1)
  const waiting = world.buyWithTransfer(serviceId, buyer, reference)
  expect(await Promise.race([waiting, wait(1_000, 'waits')])).toBe('waits')
  await chain.rpc('eth_sendRawTransaction', [bytes])
  expect((await waiting).status).toBe(200)

  const large = await world.newSeller({ price_usd: LARGE.price_usd })
  const late = world.buyWithTransfer(large.serviceId, buyer, await buyer.send(LARGE.due))
  expect(await Promise.race([late, wait(1_000, 'waits')])).toBe('waits')
  await chain.mine(FINALITY)
  expect((await late).status).toBe(200)
})

test('attack 14: a buyer who empties the wallet before or during settlement gets no order', async () => {
  const { chain } = world.base
  const drained = await world.places['base-mainnet'].newBuyer()
  const payment = await world.signPayment(serviceId, drained)
  await chain.fund(drained.account.address)
  const elsewhere = privateKeyToAccount(generatePrivateKey()).address
  await chain.transfer(drained.account, elsewhere, (await drained.usdc()) - DUE + 1n)
  expect(await world.buyWithSignature(serviceId, payment)).toMatchObject(
    rejected('invalid_exact_evm_insufficient_balance'),
  )

  const fickle = await world.places['base-mainnet'].newBuyer()
  const cancelled = await world.signPayment(serviceId, fickle)
  const { nonce } = opened(cancelled).payload.authorization
  await chain.fund(fickle.account.address)
  await chain.call(fickle.account, chain.usdc, await cancelCall(chain, fickle.account, nonce))
  expect(await world.buyWithSignature(serviceId, cancelled)).toMatchObject(
    rejected('invalid_exact_evm_nonce_already_used'),
  )
  for (const one of [drained, fickle]) expect(await ordersOf(one)).toEqual([])

  const slow = await world.places['base-mainnet'].newBuyer()
  const sent = await world.signPayment(serviceId, slow)
  const reply = await inFlight(
    world,
    chain,
    sent,
    () => world.buyWithSignature(serviceId, sent),
    async () => expect(await ordersOf(slow)).toEqual([]),
  )
  expect(reply.status).toBe(200)
  expect(await ordersOf(slow)).toHaveLength(1)
})

test('attack 15: an authorization that another account broadcasts first pays the buyer’s order', async () => {
  const { chain } = world.base
  const attacker = privateKeyToAccount(generatePrivateKey())
  const payment = await world.signPayment(serviceId, buyer)
  let theirs = ''
  const reply = await inFlight(
    world,
    chain,
    payment,
    () => world.buyWithSignature(serviceId, payment),
    async () => {
      theirs = await frontRun(chain, attacker, payment)
    },
  )
  expect(reply.status).toBe(200)
  expect(decoded(reply.headers, 'payment-response')).toMatchObject({ success: true, transaction: theirs })
  expect(await world.buyWithTransfer(serviceId, buyer, theirs, { brief: OTHER })).toMatchObject({
    status: 409,
  })

  const early = await world.signPayment(serviceId, buyer)
  const otherUser = privateKeyToAccount(generatePrivateKey())
  const before = await frontRun(chain, otherUser, early)
  expect(await world.buyWithSignature(serviceId, early)).toMatchObject(
    rejected('invalid_exact_evm_nonce_already_used'),
  )
  expect(await world.buyWithTransfer(serviceId, buyer, before)).toMatchObject(rejected('sent_by_another'))
})

describe.concurrent('while the response waits', () => {
  /** The response is 202 soon. */
  let api: Awaited<ReturnType<PurchaseWorld['market']['startApi']>>
  beforeAll(async () => {
    api = await world.market.startApi(SHORT_WAIT)
  })

  test('attack 9: a token with a transfer fee delivers less than the price and buys nothing', async ({
    expect,
  }) => {
    const { chain } = world.base
    const short = await withToken(chain, 'takes a fee of what is sent', () => buyer.send(DUE))
    expect(await world.buyWithTransfer(serviceId, buyer, short)).toMatchObject(rejected('underpaid'))

    const payer = await world.places['base-mainnet'].newBuyer()
    const payment = await world.signPayment(serviceId, payer)
    const hire = () => world.buyWithSignature(serviceId, payment, { api })
    const first = await inFlight(world, chain, payment, hire, () =>
      withToken(chain, 'takes a fee of what was signed', () => chain.mine(1)),
    )
    // The first response can come before the block, the second one cannot.
    expect([first.status, (await hire()).status]).toEqual([202, 202])
    expect(await purchaseOf(payment)).toMatchObject({ state: 'sent', result_id: null })
    expect(await ordersOf(payer)).toEqual([])
  })

  test('attack 17: a payment with an unknown outcome is not requested again', async ({ expect }) => {
    const { chain } = world.alt
    const payer = await world.places['alt-mainnet'].newBuyer()
    const payment = await world.signPayment(serviceId, payer)
    await chain.automine(false)
    const replies = [
      await world.buyWithSignature(serviceId, payment, { api }),
      world.buyWithSignature(serviceId, payment),
    ] as const
    expect(replies[0].status).toBe(202)
    await chain.automine(true)
    await chain.mine(1)
    expect((await replies[1]).status).toBe(200)
    expect(await ordersOf(payer)).toHaveLength(1)
  })

  test('attack 22: a transaction that the node cannot find is queried again later', async ({ expect }) => {
    const unknown = getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(64)))
    const headers = { 'x-payment': unknown, 'x-payment-network': 'solana-mainnet' }
    const reply = await world.client().post(world.payPath(serviceId), { brief: BRIEF }, { headers })
    expect(reply).toMatchObject(rejected('transaction_not_found_yet'))
    expect(reply.headers.get('retry-after')).toBe('3')
    expect(await world.market.db.selectFrom('purchases').where('proof', '=', unknown).execute()).toEqual([])
  })
})

test('attack 25: a token that returns true without a transfer pays nothing', async () => {
  const { chain } = world.base
  const payer = await world.places['base-mainnet'].newBuyer()
  const payment = await world.signPayment(serviceId, payer)
  const meanwhile = async () => {
    await withToken(chain, 'does nothing', () => chain.mine(1))
    const { reference } = (await purchaseOf(payment)) ?? {}
    expect(await chain.rpc('eth_getTransactionReceipt', [reference])).toMatchObject({ status: '0x1' })
    await wait(1_000)
    expect(await purchaseOf(payment)).toMatchObject({ state: 'sent', result_id: null })
    expect(await ordersOf(payer)).toEqual([])
    // The authorization is unused, so it can still be broadcast.
    await frontRun(chain, privateKeyToAccount(generatePrivateKey()), payment)
  }
  const hire = () => world.buyWithSignature(serviceId, payment)
  expect((await inFlight(world, chain, payment, hire, meanwhile)).status).toBe(200)
  expect(await ordersOf(payer)).toHaveLength(1)
})

/** Connects to the networks as the API does when it starts. */
const open = async (changes: Readonly<Record<string, string>>) => {
  const quiet = { info: () => undefined, warn: () => undefined }
  const opened = await openChains(readConfig({ ...world.market.environment, ...changes }), quiet)
  opened.stop()
}

test('attack 22: the API does not start with a node of another chain', async () => {
  await open({})
  await expect(open({ BASE_RPC_URLS: world.alt.chain.url })).rejects.toThrow('is on chain 42161, not on 8453')
  await expect(
    open({ SOLANA_GENESIS_HASH: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' }),
  ).rejects.toThrow()
})

test('attack 24: the API does not start when the token’s name differs, because signatures would be invalid', async () => {
  await withName(world.alt.chain, 'USDC', () =>
    expect(open({})).rejects.toThrow('is not "USDC", version "2"'),
  )
  await open({})
})

// The clock never goes back, so tests that advance it are last.
test('attack 12: a transfer older than an hour, or made after its quote expired, is rejected', async () => {
  const buyers = await Promise.all(NETWORKS.map((network) => world.places[network].newBuyer()))
  const old = await Promise.all(buyers.map(async (one) => ({ one, reference: await one.send(DUE) })))
  const { headers } = await world.client().get(`/api/x402/discover/${serviceId}`)
  const [reference, claim] = ['reference', 'claim'].map(
    (name) => headers.get(`x-market-payment-${name}`) ?? '',
  )
  await world.market.advance(61 * MINUTE)
  for (const { one, reference } of old)
    expect(await world.buyWithTransfer(serviceId, one, reference)).toMatchObject(rejected('too_old'))

  await world.base.chain.rpc('evm_increaseTime', [(61 * MINUTE) / 1_000])
  const late = await buyer.send(DUE, reference)
  expect(
    await world.buyWithTransfer(serviceId, buyer, late, { headers: { 'x-payment-claim': claim ?? '' } }),
  ).toMatchObject(rejected('paid_after_quote_expired'))
})

test('attack 21: a transaction hash gives no access to the order, and after a day neither does its brief', async () => {
  const reference = await buyer.send(DUE)
  const first = await world.buyWithTransfer(serviceId, buyer, reference)
  const other = await world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE))
  const path = (reply: Reply) => String(reply.body.data.status_url).replace(BASE_URL, '')
  const read = async (where: string) => (await world.client().get(where)).status
  const [bare, word] = path(first).split('?')
  const [, anotherWord] = path(other).split('?')
  expect(word).toMatch(/^t=[\w-]{22}$/)
  expect(await read(`${bare}?${word}`)).toBe(200)
  expect(await read(`${bare}?${anotherWord}`)).toBe(404)
  expect(await read(`${bare}?t=${'A'.repeat(22)}`)).toBe(404)
  expect(await read(`${bare}`)).toBe(400)
  const guessed = await world.buyWithTransfer(serviceId, buyer, reference, { brief: OTHER })
  expect([guessed.status, JSON.stringify(guessed.body).includes('ord_')]).toEqual([409, false])

  await world.market.advance(24 * HOUR)
  const again = await world.buyWithTransfer(serviceId, buyer, reference, { brief: BRIEF })
  expect([again.status, path(again)]).toEqual([200, bare])
  expect(await read(`${bare}?${word}`)).toBe(200)
})
