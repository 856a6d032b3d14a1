import { operations } from '@market/contract/operations'
import { MINUTE } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import {
  decideNext,
  type EarnWorld,
  giveShares,
  LENDING,
  LIQUIDITY,
  SHARE,
  setQueued,
  setReading,
  startEarnWorld,
  whileRead,
} from '../support/earn.ts'
import {
  asHeaders,
  DESCRIPTION,
  makeAgent,
  makeOwnedAgent,
  makeUser,
  signed,
  signOnce,
} from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, SHORT_WAIT } from '../support/settings.ts'

const PATH = '/api/earn/pool/withdraw'
const ALL = { all: true }

let world: EarnWorld
let market: Market
/** For requests that no worker decides. */
let undecided: Market
beforeAll(async () => {
  world = await startEarnWorld()
  market = world.market
  undecided = { ...market, ...(await market.startApi(SHORT_WAIT)) }
})
afterAll(() => world.stop())
beforeEach(() => world.refresh())

const withdraw = (body: unknown, ask: RequestOptions) => market.client().post(PATH, body, ask)

/** An agent with 100 shares, for which its owner's wallet paid. */
async function makeHolder(poolKey = LENDING.key) {
  const agent = await makeOwnedAgent(market)
  const holder = `agent:${agent.id}`
  const payer = agent.owner.address.toLowerCase()
  await giveShares(market, holder, { poolKey, payers: [payer] })
  return { ...agent, holder, payer, ask: { bearer: agent.apiKey } }
}

/** The whole withdrawal, as the worker decides it. */
const DECIDED = {
  status: 'queued',
  burned_shares: String(100n * SHARE),
  open_shares: String(100n * SHARE),
} as const

commonWriteErrors({
  market: () => undecided,
  operation: operations.withdrawFromEarn,
  good: async () => ({ path: PATH, body: ALL, ask: (await makeHolder()).ask }),
  // No worker runs, so nothing is decided.
  success: 202,
  other: (call) => ({
    ...call,
    method: 'PATCH',
    path: '/api/agents/me',
    body: { description: DESCRIPTION },
  }),
})

/** The pool as it is when the worker has taken all shares of a holder. */
const queued = (liquid: bigint) => setQueued(market, LENDING.key, 100n * SHARE, liquid)

test('200: settled while the vault would pay for all that is open; every field', async () => {
  const { ask, holder, owner } = await makeHolder()
  await queued(100_000_000n)
  const [{ status, body }] = await Promise.all([withdraw(ALL, ask), decideNext(market, holder, DECIDED)])
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: {
      withdrawal_id: expect.stringMatching(/^ewd_\d+_[0-9a-z]{17}$/),
      ...{ key: LENDING.key, status: 'settled', shares_burned: '100.000000000000', amount_usd: '100.00' },
      ...{ amount_is_final: false, paid_usd: '0.00', waits_for: null },
      ...{ open_shares: '100.000000000000', open_value_usd: '100.00' },
      destination_wallet: owner.address,
      risk: expect.stringMatching(/losses/),
    },
  })
})

test('200: queued when free liquidity is short, and what it waits for', async () => {
  const { ask, holder } = await makeHolder(LIQUIDITY.key)
  await setQueued(market, LIQUIDITY.key, 100n * SHARE, 99_999_999n)
  const [{ status, body }] = await Promise.all([
    withdraw({ ...ALL, key: LIQUIDITY.key }, ask),
    decideNext(market, holder, DECIDED),
  ])
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    ...{ key: LIQUIDITY.key, status: 'queued', amount_usd: '100.00', amount_is_final: false },
    waits_for: 'liquidity',
  })
  expect(body.data.risk).toMatch(/principal is at risk/)
})

test('200: queued for a check of the venue, also while the pool is held', async () => {
  const { ask, holder } = await makeHolder()
  await whileRead(market, { paused: 'held' }, async () => {
    const [{ status, body }] = await Promise.all([withdraw(ALL, ask), decideNext(market, holder, DECIDED)])
    expect([status, body.data?.status, body.data?.waits_for]).toEqual([200, 'queued', 'venue_check'])
  })
})

test('200: shares as text or a number, down to 12 decimals, to one of the wallets that paid', async () => {
  const { ask, holder, owner } = await makeHolder()
  const wanted = [
    ['0.000000000001', '1'],
    [0.5, '500000000000'],
    ['1', String(SHARE)],
    ['99', String(99n * SHARE)],
  ] as const
  for (const [shares, units] of wanted) {
    const [{ status, body }] = await Promise.all([
      withdraw({ shares, destination_wallet: owner.address }, ask),
      decideNext(market, holder, { status: 'queued', burned_shares: units, open_shares: units }),
    ])
    expect([status, body.data?.destination_wallet]).toEqual([200, owner.address])
    const { shares: stored } = await market.db
      .selectFrom('earn_withdrawals')
      .select('shares')
      .where('id', '=', body.data.withdrawal_id)
      .executeTakeFirstOrThrow()
    expect(stored).toBe(units)
  }
})

test('200: by a wallet that signs pool, shares and wallet, and by a user', async () => {
  const wallet = evmSigner()
  const key = wallet.address.toLowerCase()
  await giveShares(market, `wallet:${key}`, { payers: [key] })
  const paid = { paid_micros: 100_000_000n, filled_micros: 100_000_000n }
  const decided = { status: 'settled', burned_shares: String(100n * SHARE), ...paid } as const
  const body = { ...ALL, key: LENDING.key, destination_wallet: wallet.address }
  const headers = await signOnce(market, wallet, `earn.withdraw:${LENDING.key}::${wallet.address}`)
  const [byWallet] = await Promise.all([
    withdraw(body, { headers }),
    decideNext(market, `wallet:${key}`, decided),
  ])
  expect([byWallet.status, byWallet.body.data?.status]).toEqual([200, 'settled'])

  const { sub, token } = await makeUser(market)
  await giveShares(market, `user:${sub}`, { payers: [key] })
  const [byUser] = await Promise.all([
    withdraw(ALL, { bearer: token }),
    decideNext(market, `user:${sub}`, decided),
  ])
  expect([byUser.status, byUser.body.data?.status]).toEqual([200, 'settled'])
})

// Waits the whole time once, to prove the default.
test('202: not decided after 10 seconds', async () => {
  const { ask } = await makeHolder()
  const { status, body } = await withdraw({ shares: '12.5' }, ask)
  expect(status).toBe(202)
  expect(body.data).toMatchObject({ status: 'requested', shares_burned: null, amount_usd: null })
  expect(body.data.risk).toMatch(/\S/)
  const { body: read } = await market.client().get('/api/earn/pool/positions', ask)
  expect(read['withdrawals']).toMatchObject([{ status: 'requested', shares: '12.500000000000' }])
})

test('400: neither shares nor all, or both', async () => {
  const { ask } = await makeHolder()
  for (const body of [{}, { shares: '1', all: true }]) invalid(await withdraw(body, ask), 'shares')
})

test('400: names each field that is invalid', async () => {
  const { ask } = await makeHolder()
  const unreadable = [0, '0', '0.000', -1, '-1', '1.0000000000001', '1e3', '1,5', '', 'all', null, true, 1e21]
  for (const shares of [...unreadable, '1'.repeat(31)]) invalid(await withdraw({ shares }, ask), 'shares')
  for (const all of [false, 'true', 1, null]) invalid(await withdraw({ all }, ask), 'all')
  for (const key of ['lender', 'Lender:usdc', `a:${'b'.repeat(33)}`, '', 7])
    invalid(await withdraw({ ...ALL, key }, ask), 'key')
  for (const destination_wallet of ['mine', `0x${'1'.repeat(39)}`, (await solanaSigner()).address, ''])
    invalid(await withdraw({ ...ALL, destination_wallet }, ask), 'destination_wallet')
})

test('401: a signature that is expired, from the future, or for other shares or another wallet', async () => {
  const wallet = evmSigner()
  const body = { shares: '1.5', key: LENDING.key, destination_wallet: wallet.address }
  const purpose = `earn.withdraw:${LENDING.key}:1.5:${wallet.address}`
  const by = (proof: Parameters<typeof asHeaders>[0]) => withdraw(body, { headers: asHeaders(proof) })
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, Date.now()))
    rejected(await by(proof), 401, code)
  const others = [
    'session',
    `earn.withdraw:${LENDING.key}::${wallet.address}`,
    `earn.withdraw:${LENDING.key}:1.5:`,
    `earn.deposit:${LENDING.key}`,
  ]
  for (const other of others)
    rejected(await by(await signed(wallet, other)), 401, 'bad_signature', { expected_purpose: purpose })
})

test('403: a wallet that paid none of the holder’s deposits into this pool, and an operator’s key', async () => {
  const { ask } = await makeHolder()
  const other = await makeHolder()
  for (const destination_wallet of [evmSigner().address, other.owner.address])
    rejected(await withdraw({ ...ALL, destination_wallet }, ask), 403, 'wrong_destination')
  rejected(await withdraw(ALL, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a key that no market has', async () => {
  const { ask } = await makeHolder()
  rejected(await withdraw({ ...ALL, key: 'nobody:usdc' }, ask), 404, 'pool_not_found')
})

test('409: more shares than the caller holds; the shares of an agent are not its owner’s', async () => {
  const { ask, owner } = await makeHolder()
  rejected(await withdraw({ shares: '100.000000000001' }, ask), 409, 'insufficient_shares')
  rejected(await withdraw({ ...ALL, key: LIQUIDITY.key }, ask), 409, 'insufficient_shares')
  rejected(await withdraw(ALL, { bearer: (await makeAgent(market)).apiKey }), 409, 'insufficient_shares')
  const headers = await signOnce(market, owner, 'earn.withdraw:::')
  rejected(await withdraw(ALL, { headers }), 409, 'insufficient_shares')
})

test('400 and 409: rejected by the worker, which takes nothing', async () => {
  for (const [status, failure] of [
    [409, 'insufficient_shares'],
    [400, 'below_minimum'],
  ] as const) {
    const { ask, holder } = await makeHolder()
    const [reply] = await Promise.all([
      withdraw(ALL, ask),
      decideNext(market, holder, { status: 'rejected', failure }),
    ])
    rejected(reply, status, failure)
    const { body } = await market.client().get('/api/earn/pool/positions', ask)
    expect(body.data).toMatchObject([{ shares: '100.000000000000' }])
    expect(body['withdrawals']).toMatchObject([{ status: 'rejected', failure }])
  }
})

test('503: the venue was not read for two minutes, or none is configured', async () => {
  const { ask } = await makeHolder()
  await setReading(market, LENDING.key, { at: new Date(market.now() - 3 * MINUTE) })
  rejected(await withdraw(ALL, ask), 503, 'earn_unavailable')
  const without = await startMarket()
  try {
    const { apiKey } = await makeAgent(without)
    rejected(await without.client().post(PATH, ALL, { bearer: apiKey }), 503, 'earn_unavailable')
  } finally {
    await without.stop()
  }
})
