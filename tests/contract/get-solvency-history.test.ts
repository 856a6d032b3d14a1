import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedPayer } from '../chains/evm-world.ts'
import { NETWORK, openTreasury } from '../reserves/treasury.ts'
import { commonErrors } from '../support/common-errors.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'

const PATH = '/api/solvency/history'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.getSolvencyHistory,
  good: async () => ({ path: PATH }),
})

const read = async (query = '') => (await market.client().get(PATH + query)).body

test('200: empty before the first snapshot; then the proven snapshot of each day, newest first', async () => {
  expect(await read()).toEqual({ success: true, data: [] })

  const network = await startEvmNetwork({ chainId: 8453 })
  try {
    const treasury = await openTreasury(market.db, network)
    const payer = await fundedPayer(network)
    await treasury.payIn(payer, 12_500_000n, { purpose: 'order:a', due: 12_000_000n })
    const today = await treasury.takeSnapshot(true)
    await treasury.earn('order:a', 1_200_000n)
    await treasury.takeSnapshot()
    expect(await read()).toEqual({
      success: true,
      data: [
        {
          network: NETWORK,
          day: today.takenAt.toISOString().slice(0, 10),
          checked_at: today.takenAt.toISOString(),
          assets_usd: '12.50',
          venues_usd: '0.00',
          liabilities_usd: '12.50',
        },
      ],
    })

    treasury.clock.advance(DAY)
    const tomorrow = await treasury.takeSnapshot(true)
    const days = [tomorrow, today].map(({ takenAt }) => takenAt.toISOString().slice(0, 10))
    expect(await read()).toMatchObject({
      data: [
        { day: days[0], liabilities_usd: '11.30' },
        { day: days[1], liabilities_usd: '12.50' },
      ],
    })
  } finally {
    await network.stop()
  }
})

test.each(['0', '367', '1.5', 'x'])('400: days=%s is not a number from 1 to 366', async (days) => {
  const reply = await market.client().get(`${PATH}?days=${days}`)
  expect(reply.status).toBe(400)
  invalid(reply, 'days')
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

test('200: an unknown query parameter is ignored', async () => {
  expect((await market.client().get(`${PATH}?network=base-mainnet`)).status).toBe(200)
})
