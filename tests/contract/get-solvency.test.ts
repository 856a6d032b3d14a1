import { operations } from '@market/contract/operations'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury } from '../reserves/treasury.ts'
import { commonErrors } from '../support/common-errors.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

const PATH = '/api/solvency'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.getSolvency,
  good: async () => ({ path: PATH }),
})

const read = async () => (await market.client().get(PATH)).body

test('200: empty before the first snapshot; then each network with its shortage', async () => {
  expect(await read()).toEqual({ success: true, data: [] })

  const network = await startEvmNetwork({ chainId: 8453 })
  try {
    const treasury = await openTreasury(market.db, network)
    const payer = await fundedPayer(network)
    await treasury.payIn(payer, 12_500_000n, { purpose: 'order:a', due: 12_000_000n })
    await treasury.earn('order:a', 1_200_000n)
    const payout = await treasury.requestPayout('order:a', 3_000_000n, newAccount().address)
    const before = await treasury.takeSnapshot()
    const standing = {
      network: NETWORK,
      treasury: treasury.account.address,
      cold: null,
      checked_at: before.takenAt.toISOString(),
      assets_usd: '12.50',
      assets_final_usd: '12.50',
      venues_usd: '0.00',
      liabilities_usd: '11.30',
      earn_usd: '0.00',
      earn: [],
      platform_usd: '1.20',
      in_flight_usd: '0.00',
      in_flight: [],
      in_flight_count: 0,
      unfinal_usd: '0.00',
      shortfall_usd: '0.00',
      solvent: true,
      proof: null,
      agent_wallets: null,
    }
    expect(await read()).toEqual({ success: true, data: [standing] })

    const proven = await treasury.takeSnapshot(true)
    const proof = {
      snapshot_id: proven.id,
      checked_at: proven.takenAt.toISOString(),
      root: proven.proof?.root,
      leaves: 3,
      liabilities_usd: '11.30',
    }
    expect(await read()).toEqual({
      success: true,
      data: [{ ...standing, checked_at: proof.checked_at, proof }],
    })

    await treasury.advance(payout)
    await network.transfer(treasury.account, payer.address, 1_000_001n)
    await network.mine(FINALITY)
    const short = await treasury.takeSnapshot()
    expect(await read()).toEqual({
      success: true,
      data: [
        {
          ...standing,
          checked_at: short.takenAt.toISOString(),
          ...{ assets_usd: '8.499999', assets_final_usd: '8.499999' },
          in_flight_usd: '3.00',
          in_flight: [
            { reference: expect.stringMatching(/^0x[0-9a-f]{64}$/), replaces: [], amount_usd: '3.00' },
          ],
          in_flight_count: 1,
          unfinal_usd: '0.00',
          shortfall_usd: '1.000001',
          solvent: false,
          proof,
        },
      ],
    })
  } finally {
    await network.stop()
  }
})

test('200: a pool of Earn that was read and has no shares is worth 0.00', async () => {
  const at = new Date(market.now())
  const [vault, wallet] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
  const pool = {
    key: 'lender:usdc',
    network: NETWORK,
    kind: 'lending',
    vault,
    wallet,
    created_at: at,
  } as const
  const reading = { value_micros: 0n, valued_shares: '0', tvl_micros: 0n, liquid_micros: 0n }
  await market.db
    .insertInto('earn_pools')
    .values({ ...pool, ...reading, read_at: at })
    .execute()
  const [{ earn }] = (await read()).data
  const none = { vault_shares: '0', shares: '0.000000000000', queued_shares: '0.000000000000' }
  expect(earn).toEqual([
    { key: pool.key, vault, wallet, ...none, value_usd: '0.00', read_at: at.toISOString() },
  ])
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

test('200: an unknown query parameter is ignored', async () => {
  expect((await market.client().get(`${PATH}?network=base-mainnet`)).status).toBe(200)
})
