import { encodeFunctionData, getContractAddress, type Hex, hexToBigInt, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, PRICE, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, signed } from '../support/makers.ts'

/** Several buyers pay in one transaction, as wallets do that hand their payments to a bundler. */

const TOKEN = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
])

const ENOUGH = 1_000_000_000n

let world: OrderWorld
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

type Buyer = Awaited<ReturnType<OrderWorld['newBuyer']>>
type Seller = Awaited<ReturnType<OrderWorld['newSeller']>>

/** One transaction with a transfer of each buyer to the treasury, in this order. */
async function payTogether(payments: readonly (readonly [Buyer, bigint])[]): Promise<Hex> {
  const { chain, treasury } = world
  const bundler = await nextContract()
  const approval = encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [bundler, ENOUGH] })
  for (const [buyer] of payments) await chain.call(buyer.account, chain.usdc, approval)
  const calls = payments.map(([buyer, amount]) =>
    encodeFunctionData({
      abi: TOKEN,
      functionName: 'transferFrom',
      args: [buyer.account.address, treasury.address, amount],
    }),
  )
  const hash = await chain.callMany(chain.usdc, calls)
  await chain.mine(2)
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

test('x402: each of two bundled buyers gets the service that fits its amount, in either order', async () => {
  const [cheap, dear] = [await newSeller('10.00'), await newSeller('20.00')]
  for (const isDearFirst of [true, false]) {
    const [first, second] = [await world.newBuyer(), await world.newBuyer()]
    const hash = await payTogether([
      [first, 22_000_000n],
      [second, 11_000_000n],
    ])
    const wanted = isDearFirst ? [dear, cheap] : [cheap, dear]
    const replies = []
    for (const seller of wanted) replies.push(await buy(seller, hash, 'Read the branch called blue.'))
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const ids = replies.map(({ body }) => `order:${body.data.order_id}`)
    const [ofDear, ofCheap] = isDearFirst ? ids : ids.toReversed()
    expect(await transfersOf(hash)).toMatchObject([
      { payer: first.address.toLowerCase(), purpose: ofDear },
      { payer: second.address.toLowerCase(), purpose: ofCheap },
    ])
  }
})

test('x402: of two bundled buyers at the same time both buy, and a third naming contests', async () => {
  const seller = await newSeller('10.00')
  const [first, second] = [await world.newBuyer(), await world.newBuyer()]
  const hash = await payTogether([
    [first, 11_000_000n],
    [second, 11_000_000n],
  ])
  const both = await Promise.all(
    ['For the first.', 'For the second.'].map((brief) => buy(seller, hash, brief)),
  )
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(new Set(both.map(({ body }) => body.data.order_id)).size).toBe(2)
  const again = await buy(seller, hash, 'For the first.')
  expect([again.status, again.body.data.order_id]).toEqual([200, both[0]?.body.data.order_id])
  const third = await buy(seller, hash, 'For a third.')
  expect([third.status, third.body.code]).toEqual([409, 'payment_contested'])
})

test('x402: the signature of a payer takes back its own transfer of the bundle only', async () => {
  const [seller, thief] = [await newSeller('10.00'), await newSeller('10.00')]
  const [victim, other] = [await world.newBuyer(), await world.newBuyer()]
  const hash = await payTogether([
    [victim, 11_000_000n],
    [other, 11_000_000n],
  ])
  const stolen = await buy(thief, hash, 'For me.')
  const honest = await buy(seller, hash, 'For the other.')
  const refused = await buy(seller, hash, 'For the victim.')
  expect(refused.body.code).toBe('payment_contested')
  const purpose = (refused.body['sign'] as { purpose: string }).purpose
  const headers = asHeaders(await signed(victim, purpose, world.market.now()))
  const bought = await buy(seller, hash, 'For the victim.', headers)
  expect(bought.status).toBe(200)
  const statusOf = async (reply: typeof stolen) =>
    (
      await world.market.db
        .selectFrom('orders')
        .select('status')
        .where('id', '=', reply.body.data.order_id)
        .executeTakeFirstOrThrow()
    ).status
  expect([await statusOf(stolen), await statusOf(honest), await statusOf(bought)]).toEqual([
    'cancelled',
    'paid',
    'paid',
  ])
})
