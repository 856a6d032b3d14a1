import { operations } from '@market/contract/operations'
import { HOUR, MINUTE } from '@market/kernel/clock'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { type EarnWorld, LENDING, LIQUIDITY, setReading, startEarnWorld } from '../support/earn.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

const PATH = '/api/earn/pool/markets'

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
  operation: operations.listEarnMarkets,
  good: async () => ({ path: PATH }),
})

const read = async () => (await market.client().get(PATH)).body.data

test('200: each market with its rate, its risk and the treasury of its network', async () => {
  const { status, body } = await market.client().get(PATH)
  expect(status).toBe(200)
  const both = {
    market: 'usdc',
    network: 'base-mainnet',
    treasury_wallet: world.treasury,
    tvl_usd: '5000000.00',
    available_usd: '0.00',
    depositable: true,
    paused: false,
    first_deposit_min_usd: '100.00',
    withdraw_min_usd: '1.00',
  }
  const lending = { ...both, key: LENDING.key, venue: 'lender', kind: 'lending', label: LENDING.label }
  const liquidity = { ...both, key: LIQUIDITY.key, venue: 'traders', kind: 'liquidity_provision' }
  expect(body).toEqual({
    success: true,
    data: {
      treasury_wallet: world.treasury,
      markets: [
        // There is no hour of prices yet.
        { ...lending, apr_pct: null, risk: expect.stringMatching(/over-collateralized/) },
        {
          ...liquidity,
          label: LIQUIDITY.label,
          fee_apr_pct: null,
          risk: expect.stringMatching(/counterparty to leveraged traders.*60 %.*0\.00 %/),
        },
      ],
    },
  })
})

test('200: the rate of each kind in its own field, from an hour of prices on', async () => {
  const now = market.now()
  const prices = [
    [0, 1_000_000_000_000n],
    [HOUR, 1_000_005_000_000n],
  ] as const
  for (const { key } of [LENDING, LIQUIDITY])
    for (const [later, price] of prices)
      await market.db
        .insertInto('earn_prices')
        .values({ pool_key: key, at: new Date(now - HOUR + later), price: String(price) })
        .execute()
  const [lending, liquidity] = (await read()).markets
  expect(lending.apr_pct).toBeCloseTo(4.38, 2)
  expect(liquidity.fee_apr_pct).toBeCloseTo(4.38, 2)
  expect([lending.fee_apr_pct, liquidity.apr_pct]).toEqual([undefined, undefined])
})

test('200: a paused market and one that takes no deposits are not depositable', async () => {
  await setReading(market, LENDING.key, { paused: 'price' })
  await setReading(market, LIQUIDITY.key, { accepts: false })
  expect((await read()).markets).toMatchObject([
    { key: LENDING.key, depositable: false, paused: true },
    { key: LIQUIDITY.key, depositable: false, paused: false },
  ])
})

test('200: a market that was not read for two minutes is left out; the default one has no treasury_wallet then', async () => {
  await setReading(market, LENDING.key, { at: new Date(market.now() - 3 * MINUTE) })
  const data = await read()
  expect(data.treasury_wallet).toBe(null)
  expect(data.markets).toMatchObject([{ key: LIQUIDITY.key, treasury_wallet: world.treasury }])
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

test('429: more than 120 requests in a minute', async () => {
  const from = '198.51.100.7'
  for (let n = 0; n < 120; n++) expect((await market.client().get(PATH, { from })).status).toBe(200)
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
