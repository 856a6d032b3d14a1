import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import {
  type EarnWorld,
  giveShares,
  insertDeposit,
  insertWithdrawal,
  LENDING,
  LIQUIDITY,
  SHARE,
  setQueued,
  startEarnWorld,
} from '../support/earn.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { someHash } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/earn/pool/positions'
const HALF = { shares: 50n * SHARE, micros: 50_000_000n }

let world: EarnWorld
let market: Market
beforeAll(async () => {
  world = await startEarnWorld()
  market = world.market
})
afterAll(() => world.stop())

const list = (ask: RequestOptions) => market.client().get(PATH, ask)
const instant = expect.stringMatching(INSTANT)

const subject: Subject = {
  market: () => market,
  operation: operations.listEarnPositions,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

test('200: nothing for a caller without deposits, also where no venue is configured', async () => {
  const nothing = { success: true, data: [], deposits: [], withdrawals: [] }
  const { token } = await makeUser(market)
  expect((await list({ bearer: token })).body).toEqual(nothing)
  const without = await startMarket()
  try {
    const { apiKey } = await makeAgent(without)
    expect((await without.client().get(PATH, { bearer: apiKey })).body).toEqual(nothing)
  } finally {
    await without.stop()
  }
})

test('200: the positions of an agent in each pool, with their deposits; every field', async () => {
  const agent = await makeOwnedAgent(market)
  const holder = `agent:${agent.id}`
  await giveShares(market, holder, { ...HALF, payers: [agent.owner.address.toLowerCase()] })
  await giveShares(market, holder, { ...HALF, poolKey: LIQUIDITY.key })
  const { status, body } = await list({ bearer: agent.apiKey })
  expect(status).toBe(200)
  const position = {
    agent_id: agent.id,
    shares: '50.000000000000',
    principal_usd: '50.00',
    value_usd: '50.00',
    ...{ queued_shares: '0.000000000000', queued_value_usd: '0.00', unpaid_usd: '0.00' },
  }
  expect(body).toEqual({
    success: true,
    data: [
      { ...position, key: LENDING.key },
      { ...position, key: LIQUIDITY.key },
    ],
    deposits: [
      {
        deposit_id: expect.stringMatching(/^edp_\d+_[0-9a-z]{17}$/),
        ...{ key: LENDING.key, network: 'base-mainnet', amount_usd: '50.00', agent_id: agent.id },
        incoming_tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        ...{ status: 'active', failure: null, shares: '50.000000000000', value_usd: '50.00', refund: null },
        ...{ created_at: instant, updated_at: instant },
      },
    ],
    withdrawals: [],
  })
})

test('200: what became of each deposit and withdrawal of a wallet, newest first', async () => {
  await setQueued(market, LENDING.key, SHARE, 0n)
  const wallet = evmSigner()
  const key = wallet.address.toLowerCase()
  const holder = `wallet:${key}`
  const failure = 'The venue takes no deposits now.'
  const statuses = ['waiting', 'received', 'refunded', 'held', 'failed'] as const
  for (const status of statuses) await insertDeposit(market, holder, { status, failure })
  const burned = { burned_shares: String(SHARE) }
  await insertWithdrawal(market, holder, { destination: key, status: 'requested' })
  await insertWithdrawal(market, holder, {
    ...{
      destination: key,
      status: 'queued',
      ...burned,
      open_shares: String(SHARE / 2n),
      paid_micros: 600_000n,
    },
  })
  await insertWithdrawal(market, holder, {
    ...{ destination: key, status: 'settled', ...burned, paid_micros: 1_000_000n, filled_micros: 1_000_000n },
  })
  await insertWithdrawal(market, holder, {
    ...{ destination: key, status: 'rejected', failure: 'insufficient_shares', shares: '1' },
  })
  const { body } = await list({ headers: await signOnce(market, wallet, 'session') })
  const deposits = body['deposits'] as { status: string; failure: string | null; shares: null }[]
  expect(deposits.map(({ status }) => status)).toEqual([...statuses].reverse())
  expect(deposits.map((one) => one.failure)).toEqual([failure, failure, failure, null, null])
  const none = { open_shares: '0.000000000000', open_value_usd: '0.00', paid_usd: '0.00', waits_for: null }
  const requested = { ...none, shares: null, shares_burned: null, amount_usd: null, failure: null }
  const undecided = { ...requested, amount_is_final: false }
  const decided = { ...requested, shares_burned: '1.000000000000' }
  expect(body['withdrawals']).toEqual(
    [
      { ...undecided, status: 'rejected', failure: 'insufficient_shares', shares: '0.000000000001' },
      { ...decided, status: 'settled', amount_usd: '1.00', amount_is_final: true, paid_usd: '1.00' },
      {
        ...{ ...decided, status: 'queued', amount_usd: '1.10', amount_is_final: false },
        ...{ open_shares: '0.500000000000', open_value_usd: '0.50', waits_for: 'liquidity' },
      },
      { ...undecided, status: 'requested' },
    ].map((one) => ({
      withdrawal_id: expect.stringMatching(/^ewd_\d+_[0-9a-z]{17}$/),
      ...{ key: LENDING.key, destination_wallet: wallet.address, payouts: [], created_at: instant },
      ...one,
    })),
  )
  // A holder with withdrawals only is listed.
  expect(body.data).toEqual([
    {
      ...{ key: LENDING.key, shares: '0.000000000000', principal_usd: '0.00', value_usd: '0.00' },
      ...{ queued_shares: '0.500000000000', queued_value_usd: '0.50', unpaid_usd: '0.60' },
    },
  ])
})

test('200: an owner sees their own and those of their agents; an agent only its own', async () => {
  const wallet = evmSigner()
  const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
  const agent = await makeOwnedAgent(market, {}, wallet)
  await giveShares(market, `user:${sub}`, HALF)
  await giveShares(market, `agent:${agent.id}`, HALF)
  await giveShares(market, `wallet:${wallet.address.toLowerCase()}`, HALF)
  await insertDeposit(market, `agent:${agent.id}`, { status: 'received' })
  const namesIn = async (ask: RequestOptions) => {
    const { data, deposits } = (await list(ask)).body
    const of = (found: unknown) =>
      (found as { agent_id?: string }[]).map(({ agent_id }) => agent_id ?? 'own').sort()
    return [of(data), of(deposits)]
  }
  const both = [[agent.id, 'own'].sort(), [agent.id]]
  expect(await namesIn({ bearer: token })).toEqual(both)
  expect(await namesIn({ headers: await signOnce(market, wallet, 'session') })).toEqual(both)
  expect(await namesIn({ bearer: agent.apiKey })).toEqual([[agent.id], [agent.id]])
  const other = await makeOwnedAgent(market)
  expect(await namesIn({ bearer: other.apiKey })).toEqual([[], []])
})

test('200: at most the newest 50 deposits', async () => {
  const agent = await makeAgent(market)
  const newest = someHash()
  for (let n = 0; n < 50; n++) await insertDeposit(market, `agent:${agent.id}`, { status: 'received' })
  await insertDeposit(market, `agent:${agent.id}`, { status: 'received', reference: newest })
  const deposits = (await list({ bearer: agent.apiKey })).body['deposits'] as { incoming_tx_hash: string }[]
  expect(deposits).toHaveLength(50)
  expect(deposits[0]?.incoming_tx_hash).toBe(newest)
})

test('401: a signature that is expired, from the future or not of this wallet', async () => {
  const signer = await solanaSigner()
  for (const [code, proof] of await badSignatures(signer, 'session', Date.now()))
    rejected(await list({ headers: asHeaders(proof) }), 401, code)
})

test('403: an operator’s key', async () => {
  rejected(await list({ bearer: ADMIN_KEY }), 403, 'wrong_credential')
})
