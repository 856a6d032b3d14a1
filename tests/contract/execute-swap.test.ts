import { operations } from '@market/contract/operations'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { signSwap, withSignature } from '../support/swap-transactions.ts'
import { type SwapMarket, startSwapMarket, type Taker } from '../support/swaps.ts'

const PATH = '/api/swap/execute'
const MISSING = `swp_1700000000000_${'0'.repeat(17)}`

let swaps: SwapMarket
let taker: Taker
beforeAll(async () => {
  swaps = await startSwapMarket()
  taker = await swaps.makeTaker()
})
afterEach(() => swaps.maker.behave())
afterAll(() => swaps.stop())

/** A swap of the amount for which `commonWriteErrors` has another request. */
let another: object = {}

commonWriteErrors({
  market: () => swaps.market,
  operation: operations.executeSwap,
  good: async () => {
    const [one, two] = [await swaps.orderAndSign(taker), await swaps.orderAndSign(taker)]
    another = { order_id: two.order_id, signed_transaction: two.signed }
    const body = { order_id: one.order_id, signed_transaction: one.signed }
    return { path: PATH, body, ask: { bearer: taker.bearer } }
  },
  other: (call) => ({ ...call, body: another }),
})

const submissions = () => swaps.maker.executions.length

test('200: confirmed; repeated, it returns the same and submits nothing', async () => {
  const { order_id, signed } = await swaps.orderAndSign(taker)
  const before = submissions()
  const first = await swaps.execute(taker, order_id, signed)
  expect(first.status).toBe(200)
  expect(first.body).toEqual({
    success: true,
    data: {
      order_id,
      status: 'confirmed',
      tx_signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
    },
  })
  await swaps.market.advance(120_000)
  expect((await swaps.execute(taker, order_id, signed)).body).toEqual(first.body)
  expect(submissions()).toBe(before + 1)
})

test('200: pending while the chain does not show it', async () => {
  const { order_id, signed } = await swaps.orderAndSign(taker)
  swaps.maker.behave({ onExecute: async (_, response) => void response.writeHead(500).end() })
  const { status, body } = await swaps.execute(taker, order_id, signed)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ order_id, status: 'pending' })
  expect(swaps.market.logText()).toContain('the swap venue failed to submit a swap')
})

test('400: a wrong id, and text that is not base64 or too long', async () => {
  const { order_id, signed } = await swaps.orderAndSign(taker)
  for (const id of ['', 'ord_1', 7]) invalid(await swaps.execute(taker, id as string, signed), 'order_id')
  for (const text of ['', 'AAA', '!!!!', 'A'.repeat(1_648), null])
    invalid(await swaps.execute(taker, order_id, text as string), 'signed_transaction')
})

test('400: a transaction that is not signed, is signed by another wallet or is another one', async () => {
  const one = await swaps.orderAndSign(taker)
  const two = await swaps.orderAndSign(taker)
  const before = submissions()
  const maker = swaps.maker.wallet()
  const wrong = [
    'AAAA',
    one.transaction,
    two.signed,
    withSignature(one.signed, taker.wallet.address, new Uint8Array(64).fill(3)),
    withSignature(one.signed, maker.address, null),
    withSignature(one.signed, maker.address, new Uint8Array(64).fill(3)),
  ]
  for (const text of wrong) {
    const reply = await swaps.execute(taker, one.order_id, text)
    expect(reply.body.details).toMatchObject([{ path: 'signed_transaction' }])
    rejected(reply, 400, 'swap_transaction_invalid', { details: expect.any(Array) })
  }
  expect(submissions()).toBe(before)
  expect((await swaps.execute(taker, one.order_id, one.signed)).body.data.status).toBe('confirmed')
})

test('403: an agent and an operator’s key', async () => {
  const agent = await makeAgent(swaps.market)
  for (const bearer of [agent.apiKey, ADMIN_KEY])
    rejected(await swaps.execute({ bearer }, MISSING, 'AAAA'), 403, 'wrong_credential')
})

test('404: a missing swap, and one of another user', async () => {
  const { order_id, signed } = await swaps.orderAndSign(taker)
  const other = await swaps.makeTaker()
  rejected(await swaps.execute(taker, MISSING, signed), 404, 'swap_not_found')
  rejected(await swaps.execute(other, order_id, signed), 404, 'swap_not_found')
})

test('409: executed later than 60 seconds after the order', async () => {
  const { order_id, signed } = await swaps.orderAndSign(taker)
  await swaps.market.advance(60_000)
  const before = submissions()
  rejected(await swaps.execute(taker, order_id, signed), 409, 'swap_expired')
  expect(submissions()).toBe(before)
})

test('409: submitted before with another signature', async () => {
  const { order_id, transaction, signed } = await swaps.orderAndSign(taker)
  swaps.maker.behave({ onExecute: async (_, response) => void response.writeHead(500).end() })
  expect((await swaps.execute(taker, order_id, signed)).status).toBe(200)
  // A wallet may sign one message in several ways. This row stands for an earlier one.
  await swaps.market.database.db
    .updateTable('swap_orders')
    .set({ signature: '1'.repeat(64) })
    .where('id', '=', order_id)
    .execute()
  const again = await signSwap(transaction, taker.wallet)
  rejected(await swaps.execute(taker, order_id, again), 409, 'swap_already_submitted')
})

test('503: no venue is configured', async () => {
  const without = await startMarket()
  try {
    const bearer = await without.idp.token({ sub: 'somebody' })
    const body = { order_id: MISSING, signed_transaction: 'AAAA' }
    rejected(await without.client().post(PATH, body, { bearer }), 503, 'swap_unavailable')
  } finally {
    await without.stop()
  }
})
