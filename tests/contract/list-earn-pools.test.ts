import { operations } from '@market/contract/operations'
import { MINUTE } from '@market/kernel/clock'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import {
  type EarnWorld,
  giveShares,
  LENDING,
  LIQUIDITY,
  SHARE,
  setReading,
  startEarnWorld,
} from '../support/earn.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

const PATH = '/api/earn/pool/pools'

let world: EarnWorld
let market: Market
beforeAll(async () => {
  world = await startEarnWorld()
  market = world.market
})
afterAll(() => world.stop())
beforeEach(() => world.refresh())

commonErrors({
  market: () => market,
  operation: operations.listEarnPools,
  good: async () => ({ path: PATH }),
})

test('200: an empty pool, and one with shares that gained in value', async () => {
  await giveShares(market, 'user:depositor', { shares: 100n * SHARE, micros: 125_000_000n })
  const { status, body } = await market.client().get(PATH)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: [
      {
        ...{ key: LENDING.key, venue: 'lender', kind: 'lending', paused: false },
        total_shares: '100.000000000000',
        nav_usd: '125.00',
        share_price: '1.25',
        free_liquidity_usd: expect.stringMatching(/^\d+\.\d{2,6}$/),
        queued_withdrawals_usd: '0.00',
      },
      {
        ...{ key: LIQUIDITY.key, venue: 'traders', kind: 'liquidity_provision', paused: false },
        total_shares: '0.000000000000',
        nav_usd: '0.00',
        share_price: '1.00',
        free_liquidity_usd: '0.00',
        queued_withdrawals_usd: '0.00',
      },
    ],
  })
})

test('200: a paused pool', async () => {
  await setReading(market, LIQUIDITY.key, { paused: 'price' })
  const { data } = (await market.client().get(PATH)).body
  expect(data).toMatchObject([{ paused: false }, { key: LIQUIDITY.key, paused: true }])
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

test('429: more than 60 requests in a minute', async () => {
  const from = '198.51.100.8'
  for (let n = 0; n < 60; n++) expect((await market.client().get(PATH, { from })).status).toBe(200)
  rejected(await market.client().get(PATH, { from }), 429, 'rate_limited')
})

test('503: no venue was read for two minutes, or none is configured', async () => {
  for (const { key } of [LENDING, LIQUIDITY])
    await setReading(market, key, { at: new Date(market.now() - 3 * MINUTE) })
  rejected(await market.client().get(PATH), 503, 'earn_unavailable')
  const without = await startMarket()
  try {
    rejected(await without.client().get(PATH), 503, 'earn_unavailable')
  } finally {
    await without.stop()
  }
})
