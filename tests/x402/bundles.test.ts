import { createHash } from 'node:crypto'
import { evmChain } from '@market/chains/evm/evm-chain'
import { checkIntents } from '@market/money/payments'
import { marketContext } from '@market/testing/market-context'
import { PURPOSES } from '@market/worker/payment-handlers'
import { encodeFunctionData, getContractAddress, type Hex, hexToBigInt, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONFIRMATIONS, settingsFor } from '../chains/evm-world.ts'
import { type OrderWorld, PRICE, startOrderWorld } from '../orders/order-world.ts'
import type { Reply } from '../support/client.ts'
import { asHeaders, signed } from '../support/makers.ts'
import { until } from '../support/until.ts'

/** Several buyers pay in one transaction, as wallets do that hand their payments to a bundler. */

const TOKEN = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
])

const ENOUGH = 1_000_000_000n
const BRIEF = 'Read the branch called blue.'
const OTHER = 'Read the branch called red.'

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

type Buyer = Awaited<ReturnType<OrderWorld['newBuyer']>>
type Seller = Awaited<ReturnType<OrderWorld['newSeller']>>

/** One transaction with a transfer of each buyer to the treasury, in this order. */
async function payTogether(
  payments: readonly (readonly [Buyer, bigint])[],
  confirmations = CONFIRMATIONS,
): Promise<Hex> {
  const { chain, treasury } = world
  const bundler = await nextContract()
  const approval = encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [bundler, ENOUGH] })
  for (const [buyer] of payments) await chain.call(buyer.account, chain.usdc, approval)
  const calls = payments.map(([buyer, amount]) =>
    encodeFunctionData({
      abi: TOKEN,
      functionName: 'transferFrom',
      args: [buyer.account.address, treasury, amount],
    }),
  )
  const hash = await chain.callMany(chain.usdc, calls)
  if (confirmations > 0) await chain.mine(confirmations)
  return hash
}

/** The address of the contract that the network's deployer creates next. */
async function nextContract() {
  const [from] = (await world.chain.rpc('eth_accounts', [])) as [Hex]
  const nonce = hexToBigInt((await world.chain.rpc('eth_getTransactionCount', [from, 'latest'])) as Hex)
  return getContractAddress({ from, nonce })
}

const client = () => world.market.client()

const buy = ({ serviceId }: Seller, hash: string, brief: string, headers: Record<string, string> = {}) =>
  client().post(
    `/api/x402/pay?service_id=${serviceId}`,
    { brief },
    { headers: { 'x-payment': hash, ...headers } },
  )

const transfersOf = (reference: string) =>
  world.market.db
    .selectFrom('transfers')
    .select(['transfer_index', 'payer', 'purpose', 'amount_micros'])
    .where('reference', '=', reference)
    .orderBy('transfer_index')
    .execute()

const newSeller = (price: string) => world.newSeller({ price_usd: price })

test('orders: two buyers who paid in one transaction have both paid', async () => {
  const [first, second, seller] = [await world.newBuyer(), await world.newBuyer(), await world.newSeller()]
  const orders = await Promise.all(
    [first, second].map(async (buyer) => (await world.order(buyer, seller.serviceId)).body.data.id as string),
  )
  const hash = await payTogether([
    [first, PRICE],
    [second, PRICE],
  ])
  const replies = await Promise.all(
    [first, second].map((buyer, n) => world.act(buyer, orders[n] ?? '', 'pay', { escrow_tx_hash: hash })),
  )
  expect(replies.map(({ status, body }) => [status, body.data.status])).toEqual([
    [200, 'paid'],
    [200, 'paid'],
  ])
  expect(await transfersOf(hash)).toMatchObject([
    { transfer_index: 0, payer: first.address.toLowerCase(), purpose: `order:${orders[0]}` },
    { transfer_index: 1, payer: second.address.toLowerCase(), purpose: `order:${orders[1]}` },
  ])
})

test('orders: one buyer pays two orders in one transaction, and a third order with it is rejected', async () => {
  const [buyer, seller] = [await world.newBuyer(), await world.newSeller()]
  const order = async () => (await world.order(buyer, seller.serviceId)).body.data.id as string
  const ids = [await order(), await order(), await order()]
  const hash = await payTogether([
    [buyer, PRICE],
    [buyer, PRICE],
  ])
  const statuses: number[] = []
  for (const id of ids) statuses.push((await world.act(buyer, id, 'pay', { escrow_tx_hash: hash })).status)
  expect(statuses).toEqual([200, 200, 409])
})

test('orders: two orders that one buyer names before the bundle is confirmed are both paid', async () => {
  const [buyer, seller] = [await world.newBuyer(), await world.newSeller()]
  const ids = await Promise.all(
    [1, 2].map(async () => (await world.order(buyer, seller.serviceId)).body.data.id as string),
  )
  const hash = await payTogether(
    ids.map(() => [buyer, PRICE]),
    0,
  )
  for (const id of ids) expect((await world.act(buyer, id, 'pay', { escrow_tx_hash: hash })).status).toBe(202)
  await world.chain.mine(CONFIRMATIONS)
  const { db } = world.market
  const settings = settingsFor(world.chain, world.treasury)
  const ctx = { ...marketContext({ db }), chains: { 'base-mainnet': evmChain(settings) } }
  const isPaid = async () => {
    await world.market.advance(3_000)
    ctx.clock.set(new Date(world.market.now()))
    await checkIntents(ctx, PURPOSES)
    const rows = await db.selectFrom('orders').select('status').where('id', 'in', ids).execute()
    return rows.every(({ status }) => status === 'paid')
  }
  await until('both are paid', isPaid)
})

/** The signature of the wallet that paid, for exactly this content. */
async function signature(buyer: Buyer, hash: string, { serviceId }: Seller, brief: string) {
  const words = createHash('sha256').update(brief).digest('hex')
  const purpose = `x402.pay:base-mainnet:${hash}:${serviceId}:${words}`
  return asHeaders(await signed(buyer, purpose))
}

const buySigned = async (buyer: Buyer, seller: Seller, hash: string, brief: string) =>
  buy(seller, hash, brief, await signature(buyer, hash, seller, brief))

const statusOf = async (reply: Reply) =>
  (
    await world.market.db
      .selectFrom('orders')
      .select('status')
      .where('id', '=', reply.body.data.order_id)
      .executeTakeFirstOrThrow()
  ).status

test('x402: bundled buyers sign, and each buys with its own transfer', async () => {
  const [cheap, dear] = [await newSeller('10.00'), await newSeller('20.00')]
  const [first, second] = [await world.newBuyer(), await world.newBuyer()]
  const hash = await payTogether([
    [first, 22_000_000n],
    [second, 11_000_000n],
  ])
  const unsigned = await buy(cheap, hash, BRIEF)
  expect([unsigned.status, unsigned.body['error']]).toEqual([402, 'ambiguous_payer'])
  const [ofCheap, ofDear] = await Promise.all([
    buySigned(second, cheap, hash, BRIEF),
    buySigned(first, dear, hash, BRIEF),
  ])
  expect([ofCheap.status, ofDear.status]).toEqual([200, 200])
  expect(await transfersOf(hash)).toMatchObject([
    { payer: first.address.toLowerCase(), purpose: `order:${ofDear.body.data.order_id}` },
    { payer: second.address.toLowerCase(), purpose: `order:${ofCheap.body.data.order_id}` },
  ])
  const stranger = await world.newBuyer()
  const rejected = await buySigned(stranger, cheap, hash, OTHER)
  expect(rejected.status).toBe(409)
})

test('x402: one wallet buys two things in one transaction, also at the same time and by the amounts', async () => {
  const [cheap, dear] = [await newSeller('10.00'), await newSeller('20.00')]
  const buyer = await world.newBuyer()
  for (const amounts of [
    [11_000_000n, 11_000_000n],
    [22_000_000n, 11_000_000n],
  ] as const) {
    const hash = await payTogether(amounts.map((amount) => [buyer, amount]))
    const [first, second] = amounts[0] === amounts[1] ? [cheap, cheap] : [cheap, dear]
    const both = await Promise.all([buy(first, hash, BRIEF), buy(second, hash, OTHER)])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    const again = await buy(first, hash, BRIEF)
    expect([again.status, again.body.data.order_id]).toEqual([200, both[0].body.data.order_id])
    const purposes = (await transfersOf(hash)).map(({ purpose }) => purpose)
    expect(purposes.toSorted()).toEqual(both.map(({ body }) => `order:${body.data.order_id}`).toSorted())
  }
})

test.each(['its own first', 'the new one first'])(
  'x402: of a wallet that paid twice, another caller takes one transfer and loses it to the signature: %s',
  async (order) => {
    const [seller, thief] = [await newSeller('10.00'), await newSeller('10.00')]
    const victim = await world.newBuyer()
    const hash = await payTogether([
      [victim, 11_000_000n],
      [victim, 11_000_000n],
    ])
    const own = await buy(seller, hash, BRIEF)
    const stolen = await buy(thief, hash, 'For me.')
    expect([own.status, stolen.status]).toEqual([200, 200])
    const rejection = await buy(seller, hash, OTHER)
    expect([rejection.status, rejection.body.code]).toEqual([409, 'payment_contested'])
    const briefs = order === 'its own first' ? [BRIEF, OTHER] : [OTHER, BRIEF]
    const replies: Reply[] = []
    for (const brief of briefs) replies.push(await buySigned(victim, seller, hash, brief))
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    expect(await statusOf(stolen)).toBe('cancelled')
    expect(await Promise.all(replies.map(statusOf))).toEqual(['paid', 'paid'])
  },
)
