import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { type Market, startMarket } from '../support/market.ts'
import { whileOn } from '../support/operator.ts'
import { SOL } from '../support/price-source.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsUnreadableBodies } from '../support/rejects-bad-bodies.ts'

const PATH = '/api/market'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const ask = (body: unknown, headers: Record<string, string> = {}) =>
  market.client().post(PATH, body, { headers })

const subject = {
  market: () => market,
  operation: operations.getMarketData,
  good: async () => ({ path: PATH, body: { mints: [SOL] } }),
}
commonErrors(subject)
rejectsUnreadableBodies(subject)

const PRICE = { price_usd: '0.0000000015', market_cap_usd: '80000000000.00' }

test('200: prices by mint, null for an unknown one; a mint that is repeated counts once', async () => {
  const { status, body } = await ask({ mints: [SOL, USDC, SOL] })
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: { [SOL]: PRICE, [USDC]: null } })
})

test('200: while read_only is on, because it changes nothing', async () => {
  await whileOn(market, 'read_only', async () => {
    expect((await ask({ mints: [SOL] })).status).toBe(200)
  })
})

test('200: an Idempotency-Key is ignored, and nothing is stored', async () => {
  const headers = { 'idempotency-key': 'short' }
  for (const mints of [[SOL], [USDC]]) expect((await ask({ mints }, headers)).status).toBe(200)
  expect(await market.db.selectFrom('requests').selectAll().execute()).toEqual([])
})

test('400: no mints, too many, or one that is not base58 of 32-44 characters', async () => {
  invalid(await ask({}), 'mints')
  invalid(await ask({ mints: [] }), 'mints')
  invalid(await ask({ mints: Array.from({ length: 101 }, () => SOL) }), 'mints')
  for (const mint of ['', SOL.slice(0, 31), `${SOL}11`, SOL.replace('S', '0'), '__proto__', 7])
    invalid(await ask({ mints: [SOL, mint] }), 'mints.1')
  invalid(await ask({ mints: [SOL], chain: 'solana' }), '')
})

test('503: the price source does not respond and the price is not known', async () => {
  expect((await ask({ mints: [SOL] })).status).toBe(200)
  market.prices.respondWith((_, response) => response.destroy())
  try {
    const reply = await ask({ mints: ['JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN'] })
    rejected(reply, 503, 'unavailable')
    expect(reply.headers.get('retry-after')).toBe('2')
    // One that is known is served.
    expect((await ask({ mints: [SOL] })).body.data).toEqual({ [SOL]: PRICE })
  } finally {
    market.prices.respondWith()
  }
})

test('503: no price source is configured', async () => {
  const without = await startMarket({ PRICES_URL: '' })
  try {
    const reply = await without.client().post(PATH, { mints: [SOL] })
    rejected(reply, 503, 'prices_not_configured')
    expect(reply.headers.get('retry-after')).toBe('60')
  } finally {
    await without.stop()
  }
})
