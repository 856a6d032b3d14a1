import { operations } from '@market/contract/operations'
import { escrow, payable, surplus, suspense } from '@market/money/ledger'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { auditOf, balanceIn, makeClaimed, makeUnmatched, NETWORK, someHash } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const pathFor = (id: string) => `/api/admin/unmatched-transfers/${id}/refund`
const pathOf = (reference: string, from = 'suspense', network = NETWORK) =>
  pathFor(`${from}:${network}:${reference}`)
const REASON = 'The payer asked for it'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const BODY = { reason: REASON }
const refund = (...where: Parameters<typeof pathOf>) =>
  market.client().post(pathOf(...where), BODY, { bearer })

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.refundTransfer,
  good: async () => {
    spare = (await makeUnmatched(market.db)).reference
    return { path: pathOf((await makeUnmatched(market.db)).reference), body: BODY, ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: pathOf(spare) }),
})
rejectsWithoutProvider(subject, pathOf(someHash()), BODY)

const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))

test('200: refunds an unclaimed transfer to its payer once, and records the operator', async () => {
  const { reference, payer } = await makeUnmatched(market.db)
  const first = await refund(`0x${reference.slice(2).toUpperCase()}`)
  expect(first.status).toBe(200)
  const { id } = first.body.data
  expect(first.body).toEqual({
    success: true,
    data: {
      id: expect.stringMatching(/^pay_[0-9a-z]{32}$/),
      kind: 'surplus',
      subject: `suspense:base:${reference}`,
      network: NETWORK,
      payee: payer,
      amount_usd: '5.00',
      state: 'queued',
      hold_code: null,
      reason: null,
      round: 1,
      created_at: expect.stringMatching(INSTANT),
      updated_at: expect.stringMatching(INSTANT),
      tx_hash: null,
    },
  })
  expect(await inSuspense(reference)).toBe(0n)
  expect(await balanceIn(market.db, payable(NETWORK, id))).toBe(5_000_000n)
  expect((await refund(reference)).body.data).toEqual(first.body.data)
  expect(await balanceIn(market.db, payable(NETWORK, id))).toBe(5_000_000n)
  const entry = {
    act: 'transfer.refunded',
    actor: `user:${ADMIN_USER}`,
    details: {
      reason: REASON,
      network: NETWORK,
      from: 'suspense',
      payout: id,
      payee: payer,
      amount_usd: '5.00',
    },
  }
  expect(await auditOf(market.db, reference)).toEqual([entry, entry])
})

test('200: ten concurrent requests create one payout', async () => {
  const { reference } = await makeUnmatched(market.db)
  const replies = await Promise.all(Array.from({ length: 10 }, () => refund(reference)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1)
  expect(await balanceIn(market.db, payable(NETWORK, replies[0]?.body.data.id))).toBe(5_000_000n)
})

test('200: refunds the surplus to the payer, and the amount due stays in escrow', async () => {
  const { reference, payer, purpose } = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_050_000n })
  const { body } = await refund(reference, 'surplus')
  expect(body.data).toMatchObject({ payee: payer, amount_usd: '0.05' })
  expect(await balanceIn(market.db, surplus(NETWORK, reference))).toBe(0n)
  expect(await balanceIn(market.db, escrow(NETWORK, purpose))).toBe(1_000_000n)
})

test('400: missing or invalid fields, and a payee, which needs two operators', async () => {
  const post = (id: string, body: object) => market.client().post(pathFor(id), body, { bearer })
  const id = `suspense:${NETWORK}:${someHash()}`
  invalid(await post(id, {}), 'reason')
  for (const wrong of ['suspense:base-mainnet:0x12', `escrow:${NETWORK}:${someHash()}`, someHash()])
    invalid(await post(wrong, { reason: 'no' }), 'unmatched_id', 'reason')
  invalid(await post(id, { ...BODY, payee: evmSigner().address }), '')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { reference } = await makeUnmatched(market.db)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(pathOf(reference), BODY, { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('404: an unknown transfer', async () => {
  rejected(await refund(someHash()), 404, 'not_found')
  const { reference } = await makeUnmatched(market.db)
  rejected(await refund(reference, 'suspense', 'alt-mainnet'), 404, 'not_found')
})

test('409: a transfer that is not final, and one without a balance', async () => {
  const seen = await makeUnmatched(market.db, { state: 'seen' })
  rejected(await refund(seen.reference), 409, 'conflict')
  const final = await makeUnmatched(market.db)
  rejected(await refund(final.reference, 'surplus'), 409, 'conflict')
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n })
  rejected(await refund(claimed.reference), 409, 'conflict')
  expect(await inSuspense(final.reference)).toBe(5_000_000n)
  expect(await auditOf(market.db, final.reference)).toEqual([])
})

test('409: less than the minimum payout of the network, which stays in suspense', async () => {
  const onBase = await startMarket({ BASE_MIN_PAYOUT_USDC: '0.07' }, { chains: [NETWORK] })
  try {
    const { reference } = await makeUnmatched(onBase.db, { amount: 69_999n })
    const ask = { bearer: await operatorToken(onBase) }
    rejected(await onBase.client().post(pathOf(reference), BODY, ask), 409, 'below_minimum')
    expect(await balanceIn(onBase.db, suspense(NETWORK, reference))).toBe(69_999n)
    const enough = await makeUnmatched(onBase.db, { amount: 70_000n })
    expect((await onBase.client().post(pathOf(enough.reference), BODY, ask)).status).toBe(200)
  } finally {
    await onBase.stop()
  }
})

test('409: money whose payer is unknown, or of others beside a claimed payment, needs two operators', async () => {
  const unknown = await makeUnmatched(market.db, { payer: null })
  const beside = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  for (const { reference } of [unknown, beside]) {
    const before = await inSuspense(reference)
    rejected(await refund(reference), 409, 'approval_required')
    expect(await inSuspense(reference)).toBe(before)
  }
})
