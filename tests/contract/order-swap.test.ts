import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { SOL } from '../support/price-source.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { honestOut } from '../support/swap-maker.ts'
import { AMOUNT, type SwapMarket, startSwapMarket, type Taker } from '../support/swaps.ts'

const PATH = '/api/swap/order'

let swaps: SwapMarket
let taker: Taker
beforeAll(async () => {
  swaps = await startSwapMarket()
  taker = await swaps.makeTaker()
})
afterEach(() => swaps.maker.behave())
afterAll(() => swaps.stop())

commonWriteErrors({
  market: () => swaps.market,
  operation: operations.orderSwap,
  good: async () => ({
    path: PATH,
    body: { wallet: taker.wallet.address, amount_usd: '5.00' },
    ask: { bearer: taker.bearer },
  }),
  other: (call) => ({ ...call, body: { wallet: taker.wallet.address, amount_usd: '6.00' } }),
})

const stored = () =>
  swaps.market.db.selectFrom('swap_orders').selectAll().where('user_id', '=', taker.userId).execute()

test('201: a transaction to sign, the least output at the default slippage, and 60 seconds to execute it', async () => {
  const before = swaps.market.now()
  const { status, body } = await swaps.order(taker)
  expect(status).toBe(201)
  // 5 USDC at 150 USD are 33,333,333 lamports, and 0.5 % less is 33,166,666.335, rounded up.
  expect(body).toEqual({
    success: true,
    data: {
      order_id: expect.stringMatching(/^swp_\d+_[0-9a-z]{17}$/),
      transaction: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/),
      amount_usd: '5.00',
      min_out_sol: '0.033166667',
      expires_at: expect.any(String),
    },
  })
  const expiresIn = new Date(body.data.expires_at).getTime() - before
  expect(expiresIn).toBeGreaterThanOrEqual(60_000)
  expect(swaps.maker.keys.at(-1)).toBe('venue-key-1')
  const row = (await stored()).find(({ id }) => id === body.data.order_id)
  expect(row).toMatchObject({ status: 'ordered', wallet: taker.wallet.address, signature: null })
})

test('201: the slippage of the request counts, not that of the venue', async () => {
  swaps.maker.behave({
    paysFee: true,
    respond: (order) => ({ ...order, slippageBps: 5_000, otherAmountThreshold: '1' }),
  })
  expect((await swaps.order(taker, { slippage_bps: 300 })).body.data.min_out_sol).toBe('0.032333334')
  expect((await swaps.order(taker, { slippage_bps: 1 })).body.data.min_out_sol).toBe('0.03333')
})

test('400: a wallet that is not a Solana address, a wrong amount or slippage', async () => {
  for (const wallet of [undefined, '', 'x', `0x${'a'.repeat(40)}`])
    invalid(await swaps.order(taker, { wallet }), 'wallet')
  for (const amount_usd of [undefined, '0', '-1', '0.0000001', '1000000.01', 'all', null])
    invalid(await swaps.order(taker, { amount_usd }), 'amount_usd')
  for (const slippage_bps of [0, 301, 1.5, '50', null])
    invalid(await swaps.order(taker, { slippage_bps }), 'slippage_bps')
  invalid(await swaps.order(taker, { output_mint: taker.wallet.address }), '')
})

test('403: a wallet that is not linked to the account, or linked to another one', async () => {
  const other = await swaps.makeTaker()
  const { address: unknown } = await solanaSigner()
  for (const wallet of [other.wallet.address, unknown, 'z'.repeat(44)])
    rejected(await swaps.order(taker, { wallet }), 403, 'wallet_not_linked')
  const { token: bearer } = await makeUser(swaps.market)
  rejected(await swaps.order({ ...taker, bearer }), 403, 'wallet_not_linked')
})

test('403: an agent and an operator’s key', async () => {
  const agent = await makeAgent(swaps.market)
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await swaps.order({ ...taker, bearer }), 403, 'wrong_credential')
})

test('409: the venue does not offer the swap', async () => {
  swaps.maker.behave({ onOrder: (_, response) => response.writeHead(400).end('{}') })
  rejected(await swaps.order(taker), 409, 'swap_not_offered')
  for (const transaction of [null, '', undefined]) {
    swaps.maker.behave({
      respond: (order) => ({ ...order, transaction, errorMessage: 'Insufficient funds' }),
    })
    rejected(await swaps.order(taker), 409, 'swap_not_offered')
  }
})

test('503: a transaction that is not the swap, with its reason; nothing is stored', async () => {
  const before = (await stored()).length
  swaps.maker.behave({ fill: (parts) => ({ ...parts, amount: parts.amount + 1n }) })
  const reply = await swaps.order(taker)
  rejected(reply, 503, 'swap_rejected')
  expect(reply.body.error).toContain('payment_amount')
  expect(reply.headers.get('retry-after')).toBe('2')
  expect(await stored()).toHaveLength(before)
})

test('503: a message that an earlier order has', async () => {
  let first: Record<string, unknown> | undefined
  swaps.maker.behave({ respond: (order) => (first ??= order) })
  expect((await swaps.order(taker)).status).toBe(201)
  const reply = await swaps.order(taker)
  rejected(reply, 503, 'swap_rejected')
  expect(reply.body.error).toContain('repeated_message')
})

test('503: a quote that is more than 5 % below the market price, and none that is exactly 5 % below', async () => {
  const least = (honestOut(AMOUNT * 100n) * 95n) / 10_000n + 1n
  swaps.maker.behave({ quote: () => least - 1n })
  rejected(await swaps.order(taker), 503, 'swap_price_too_low')
  swaps.maker.behave({ quote: () => least, paysFee: true })
  const { status, body } = await swaps.order(taker, { slippage_bps: 300 })
  expect(status).toBe(201)
  // The slippage does not reach below the price.
  expect(body.data.min_out_sol).toBe('0.031666667')
})

test('503: an output below the minimum after the fee that the wallet pays', async () => {
  // 1 bps of the output is less than the fee.
  const reply = await swaps.order(taker, { slippage_bps: 1 })
  rejected(reply, 503, 'swap_rejected')
  expect(reply.body.error).toContain('output_too_low')
})

test.each([
  ['does not know SOL', {}],
  ['has a price of 0', { [SOL]: { usd: 0 } }],
])('503: the price source %s', async (_, prices) => {
  const unpriced = await startSwapMarket()
  try {
    unpriced.market.prices.respondWith((_request, response) => response.end(JSON.stringify(prices)))
    const reply = await unpriced.order(await unpriced.makeTaker())
    rejected(reply, 503, 'swap_price_unavailable')
    expect(reply.headers.get('retry-after')).toBe('2')
    // The venue was not asked.
    expect(unpriced.maker.keys).toEqual([])
  } finally {
    await unpriced.stop()
  }
})

test('503: a venue that fails, redirects, or does not respond with an order', async () => {
  const away: ((response: import('node:http').ServerResponse) => unknown)[] = [
    (response) => response.writeHead(500).end(),
    (response) => response.writeHead(429).end(),
    (response) => response.writeHead(302, { location: swaps.maker.url }).end(),
    (response) => response.end('not json'),
    (response) => response.end('{}'),
    (response) => response.end(JSON.stringify({ requestId: 'a b', outAmount: '1', transaction: 'AAAA' })),
    (response) => response.end(JSON.stringify({ requestId: 'a', outAmount: '1e9', transaction: 'AAAA' })),
    (response) => response.end(JSON.stringify({ padding: 'x'.repeat(70_000) })),
    (response) => response.destroy(),
  ]
  for (const respond of away) {
    swaps.maker.behave({ onOrder: (_, response) => void respond(response) })
    rejected(await swaps.order(taker), 503, 'swap_unavailable')
  }
})

test('503: no venue is configured', async () => {
  const without = await startMarket()
  try {
    const { token: bearer } = await makeUser(without, { wallets: [taker.wallet.address] })
    const body = { wallet: taker.wallet.address, amount_usd: '5.00' }
    const reply = await without.client().post(PATH, body, { bearer })
    rejected(reply, 503, 'swap_unavailable')
    expect(reply.headers.get('retry-after')).toBe('60')
  } finally {
    await without.stop()
  }
})
