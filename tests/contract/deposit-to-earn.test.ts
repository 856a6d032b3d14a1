import { operations } from '@market/contract/operations'
import { MINUTE } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import {
  type EarnWorld,
  giveShares,
  LENDING,
  LIQUIDITY,
  setReading,
  startEarnWorld,
  whileRead,
} from '../support/earn.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { someHash } from '../support/treasury.ts'

const PATH = '/api/earn/pool/deposit'
const AMOUNT = 5_000_000n

let world: EarnWorld
let market: Market
/** A wallet with money, the user it is linked to, and an agent that it owns. */
let buyer: Awaited<ReturnType<EarnWorld['newBuyer']>>
let user: Awaited<ReturnType<typeof makeUser>>
let agent: Awaited<ReturnType<typeof makeOwnedAgent>>
beforeAll(async () => {
  world = await startEarnWorld()
  market = world.market
  buyer = await world.newBuyer()
  user = await makeUser(market, { wallets: [buyer.address] })
  agent = await makeOwnedAgent(market, {}, buyer)
  // The first deposit into the other pool has a minimum.
  await giveShares(market, 'user:somebody')
})
afterAll(() => world.stop())
beforeEach(() => world.refresh())

const bodyOf = (hash: string, fields: Record<string, unknown> = {}) => ({
  amount_usd: '5.00',
  incoming_tx_hash: hash,
  ...fields,
})
const deposit = (hash: string, ask: RequestOptions = { bearer: user.token }, fields = {}) =>
  market.client().post(PATH, bodyOf(hash, fields), ask)
const sent = (micros = AMOUNT) => world.settled(buyer, micros)

commonWriteErrors({
  market: () => market,
  operation: operations.depositToEarn,
  good: async () => ({ path: PATH, body: bodyOf(await sent()), ask: { bearer: user.token } }),
  // A transfer that nobody has seen is waited for.
  other: (call) => ({ ...call, body: bodyOf(someHash()) }),
})

test('201: a confirmed transfer of a linked wallet; every field', async () => {
  const hash = await sent()
  const { status, body } = await deposit(`0x${hash.slice(2).toUpperCase()}`)
  expect(status).toBe(201)
  const instant = expect.stringMatching(INSTANT)
  expect(body).toEqual({
    success: true,
    data: {
      deposit_id: expect.stringMatching(/^edp_\d+_[0-9a-z]{17}$/),
      ...{ key: LENDING.key, network: 'base-mainnet', amount_usd: '5.00', incoming_tx_hash: hash },
      ...{ status: 'received', failure: null, shares: null, value_usd: null },
      ...{ created_at: instant, updated_at: instant },
      risk: expect.stringMatching(/losses/),
    },
  })
  const again = await deposit(hash)
  expect([again.status, again.body]).toEqual([201, body])
  const read = await market.client().get('/api/earn/pool/positions', { bearer: user.token })
  expect((read.body['deposits'] as unknown[])[0]).toMatchObject({
    incoming_tx_hash: hash,
    status: 'received',
  })
})

test('201: by a wallet that signs, by a user with a linked wallet, and by one with a wallet that signs too', async () => {
  const own = await sent()
  const proof = await buyer.proof(`earn.deposit:${own}`)
  expect((await deposit(own, {}, proof)).status).toBe(201)
  const linked = { bearer: (await makeUser(market, { wallets: [buyer.address] })).token }
  expect((await deposit(await sent(), linked)).status).toBe(201)
  const other = { bearer: (await makeUser(market)).token }
  const hash = await sent()
  rejected(await deposit(hash, other), 400, 'payer_unknown')
  const cosigned = await buyer.proof(`earn.deposit:${hash}`)
  expect((await deposit(hash, other, cosigned)).status).toBe(201)
})

test('an agent deposits from its owner’s wallet only with a signature of the wallet: a leaked key locks nothing', async () => {
  const hash = await sent()
  rejected(await deposit(hash, { bearer: agent.apiKey }), 400, 'payer_unknown')
  // The transfer is free for what its wallet signs for.
  const seller = await world.newSeller()
  const paid = await sent(25_000_000n)
  rejected(await deposit(paid, { bearer: agent.apiKey }, { amount_usd: '25.00' }), 400, 'payer_unknown')
  const { body } = await world.order(buyer, seller.serviceId)
  expect((await world.act(buyer, body.data.id as string, 'pay', { escrow_tx_hash: paid })).status).toBe(200)

  const proof = await buyer.proof(`earn.deposit:${hash}`)
  expect((await deposit(hash, { bearer: agent.apiKey }, proof)).status).toBe(201)
  const { body: read } = await market.client().get('/api/earn/pool/positions', { bearer: agent.apiKey })
  expect(read['deposits']).toMatchObject([{ incoming_tx_hash: hash, agent_id: agent.id }])
})

test('409: too_many_waiting when 20 deposits of the caller wait for their transfers', async () => {
  const { token } = await makeUser(market, { wallets: [buyer.address] })
  for (let n = 0; n < 20; n++) expect((await deposit(someHash(), { bearer: token })).status).toBe(202)
  rejected(await deposit(someHash(), { bearer: token }), 409, 'too_many_waiting')
  expect((await deposit(await sent(), { bearer: token })).status).toBe(201)
})

test('201: the market of `key`, with its own risk', async () => {
  await giveShares(market, 'user:trader', { poolKey: LIQUIDITY.key })
  const { status, body } = await deposit(await sent(), undefined, { key: LIQUIDITY.key })
  expect([status, body.data.key]).toEqual([201, LIQUIDITY.key])
  expect(body.data.risk).toMatch(/principal is at risk/)
})

test('202: a transfer that is not confirmed is waited for', async () => {
  const hash = someHash()
  const first = await deposit(hash)
  expect(first.status).toBe(202)
  expect(first.body.data).toMatchObject({ status: 'waiting', shares: null, incoming_tx_hash: hash })
  const again = await deposit(hash)
  expect([again.status, again.body]).toEqual([202, first.body])
})

test('400: names each field that is missing or invalid', async () => {
  const hash = someHash()
  const wrong = (fields: Record<string, unknown>) => deposit(hash, undefined, fields)
  for (const field of ['amount_usd', 'incoming_tx_hash']) invalid(await wrong({ [field]: undefined }), field)
  for (const amount_usd of [0, '0.00', -1, '1000000.000001', '1.0000001', 'five', '', null, true])
    invalid(await wrong({ amount_usd }), 'amount_usd')
  for (const incoming_tx_hash of ['', 'x'.repeat(101), 7])
    invalid(await wrong({ incoming_tx_hash }), 'incoming_tx_hash')
  for (const key of ['lender', 'Lender:usdc', `${'a'.repeat(33)}:usdc`, 'a:b:c', '', 7])
    invalid(await wrong({ key }), 'key')
})

test('400: a Solana signature, and a text that is no hash', async () => {
  const details = [{ path: 'incoming_tx_hash', message: expect.stringContaining('base-mainnet') }]
  for (const hash of ['5'.repeat(88), 'nothing'])
    rejected(await deposit(hash), 400, 'bad_reference', { details })
  const reply = await deposit('0x1234')
  expect([reply.status, reply.body.code]).toEqual([400, 'bad_reference'])
})

test('400: a transfer that is too small or from another wallet; it stays unused', async () => {
  rejected(await deposit(await sent(AMOUNT - 1n)), 400, 'underpaid')
  const foreign = await world.settled(await world.newBuyer(), AMOUNT)
  rejected(await deposit(foreign), 400, 'wrong_payer')
  const withoutOwner = await makeAgent(market)
  rejected(await deposit(await sent(), { bearer: withoutOwner.apiKey }), 400, 'payer_unknown')
})

test('400: below_first_minimum for the first deposit into a pool without shares', async () => {
  const fresh = await startEarnWorld()
  try {
    const payer = await fresh.newBuyer()
    const first = async (amount_usd: string, micros: bigint) => {
      const hash = await fresh.settled(payer, micros)
      const proof = await payer.proof(`earn.deposit:${hash}`)
      return fresh.market.client().post(PATH, { amount_usd, incoming_tx_hash: hash, ...proof })
    }
    rejected(await first('99.999999', 99_999_999n), 400, 'below_first_minimum')
    expect((await first('100.00', 100_000_000n)).status).toBe(201)
  } finally {
    await fresh.stop()
  }
})

test('401: a signature that is expired, from the future, for another transfer or another action', async () => {
  const hash = someHash()
  const purpose = `earn.deposit:${hash}`
  const by = (proof: Parameters<typeof asHeaders>[0]) => deposit(hash, { headers: asHeaders(proof) })
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, Date.now()))
    rejected(await by(proof), 401, code)
  for (const other of ['session', `earn.deposit:${someHash()}`, `earn.withdraw:${hash}`])
    rejected(await by(await signed(buyer, other)), 401, 'bad_signature', { expected_purpose: purpose })
})

test('403: an operator’s key', async () => {
  rejected(await deposit(someHash(), { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: a key that no market has', async () => {
  rejected(await deposit(someHash(), undefined, { key: 'nobody:usdc' }), 404, 'pool_not_found')
})

test('409: a pool that is paused, or whose venue takes no deposits', async () => {
  for (const paused of ['held', 'price', 'wallet'] as const)
    await whileRead(market, { paused }, async () => rejected(await deposit(await sent()), 409, 'pool_paused'))
  await whileRead(market, { accepts: false }, async () =>
    rejected(await deposit(await sent()), 409, 'not_depositable'),
  )
})

test('409: transfer_used when the transfer paid an order, or is the deposit of another caller', async () => {
  const seller = await world.newSeller()
  const { body } = await world.order(buyer, seller.serviceId)
  const used = await world.settled(buyer)
  const proof = await buyer.proof(`orders.pay:${body.data.id}`)
  const paid = { action: 'pay', escrow_tx_hash: used, ...proof }
  expect((await market.client().patch(`/api/orders/${body.data.id}`, paid)).status).toBe(200)
  rejected(await deposit(used), 409, 'transfer_used')

  const hash = await sent()
  expect((await deposit(hash)).status).toBe(201)
  const other = { bearer: (await makeUser(market, { wallets: [buyer.address] })).token }
  rejected(await deposit(hash, other), 409, 'transfer_used')
})

test('503: the venue was not read for two minutes, or none is configured', async () => {
  await setReading(market, LENDING.key, { at: new Date(market.now() - 3 * MINUTE) })
  rejected(await deposit(someHash()), 503, 'earn_unavailable')
  const without = await startMarket()
  try {
    const signer = evmSigner()
    const hash = someHash()
    const proof = await signed(signer, `earn.deposit:${hash}`)
    rejected(await without.client().post(PATH, bodyOf(hash, proof)), 503, 'earn_unavailable')
  } finally {
    await without.stop()
  }
})

// Last, because it moves the clock.
test('201: a transfer that is older than an hour', async () => {
  const hash = await sent()
  await market.advance(2 * 3_600_000)
  const reply = await whileRead(market, { at: new Date(market.now()) }, () => deposit(hash))
  expect(reply.status).toBe(201)
})
