import { evmReserveSigner } from '@market/chains/evm/evm-reserve-signer'
import { localEvmSigner } from '@market/chains/local-signers'
import { solanaReserveAnchor } from '@market/chains/solana/solana-reserve-anchor'
import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { anchorReserves, signAnchors } from '@market/reserves/anchors'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedPayer } from '../chains/evm-world.ts'
import { startSolanaWorld } from '../chains/solana-support.ts'
import { NETWORK, openTreasury } from '../reserves/treasury.ts'
import { commonErrors } from '../support/common-errors.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid } from '../support/rejected.ts'
import { until } from '../support/until.ts'

const LONG = { withinMs: 120_000 }
const PATH = '/api/solvency/anchors'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.listAnchors,
  good: async () => ({ path: PATH }),
})

const list = async (query = '') => (await market.client().get(`${PATH}${query}`)).body

test('200: the text of each day, newest first, with its roots and the transaction that contains it', async () => {
  expect(await list()).toEqual({ success: true, data: [], next_cursor: null })

  const [network, world] = await Promise.all([startEvmNetwork({ chainId: 8453 }), startSolanaWorld()])
  try {
    const treasury = await openTreasury(market.db, network)
    await treasury.payIn(await fundedPayer(network), 2_500_000n, { purpose: 'order:a', due: 2_500_000n })
    const first = await treasury.takeSnapshot(true)
    const reserveAnchors = { 'solana-mainnet': solanaReserveAnchor(world.settings, world.signer) }
    await until(
      'the anchor is final',
      async () => {
        treasury.clock.advance(60_000)
        await anchorReserves({ ...treasury.ctx, reserveAnchors })
        return (await list()).data[0]?.anchored != null
      },
      LONG,
    )
    await signAnchors(treasury.ctx, evmReserveSigner(NETWORK, localEvmSigner(treasury.account.key)))
    treasury.clock.advance(DAY)
    const second = await treasury.takeSnapshot(true)
    await anchorReserves({ ...treasury.ctx, reserveAnchors: {} })

    const entry = ({ id, day, proof }: typeof first) => ({
      day,
      text: expect.stringMatching(new RegExp(`^market\\.reserves\\.v1 ${day} [0-9a-f]{64}$`)),
      networks: [
        {
          network: NETWORK,
          snapshot_id: id,
          root: proof?.root,
          total_usd: '2.50',
          total_micros: '2500000',
          agent_wallets: null,
        },
      ],
    })
    const signature = {
      network: NETWORK,
      treasury: treasury.account.address,
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    }
    const anchored = {
      network: 'solana-mainnet',
      account: world.treasury.address,
      signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
      final_at: expect.stringMatching(/Z$/),
    }
    expect(await list()).toEqual({
      success: true,
      data: [
        { ...entry(second), signatures: [], anchored: null },
        { ...entry(first), signatures: [signature], anchored },
      ],
      next_cursor: null,
    })
    const page = await list('?limit=1')
    expect(page.data).toHaveLength(1)
    expect(await list(`?limit=1&cursor=${page.next_cursor}`)).toMatchObject({
      data: [{ day: first.day }],
      next_cursor: null,
    })
  } finally {
    await Promise.all([network.stop(), world.stop()])
  }
})

test('400: an invalid cursor', async () => {
  invalid(await market.client().get(`${PATH}?cursor=tomorrow`), 'cursor')
})
