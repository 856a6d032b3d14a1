import { operations } from '@market/contract/operations'
import { escrow, payable, surplus, suspense } from '@market/money/ledger'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import type { Subject } from '../support/good-call.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-away.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import {
  auditOf,
  balanceIn,
  CHECKSUMMED,
  MISTYPED,
  makeClaimed,
  makeUnmatched,
  NETWORK,
  someHash,
} from '../support/treasury.ts'

const PATH = '/api/admin/transfers/refund'
const REASON = 'The payer asked for it'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const post = (body: unknown, path = PATH) => market.client().post(path, body, { bearer })

const bodyFor = (reference: string, more: object = {}) => ({
  network: NETWORK,
  reference,
  from: 'suspense',
  reason: REASON,
  ...more,
})

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.refundTransfer,
  good: async () => {
    spare = (await makeUnmatched(market.db)).reference
    return { path: PATH, body: bodyFor((await makeUnmatched(market.db)).reference), ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, body: bodyFor(spare) }),
})
rejectsWithoutProvider(subject, PATH, bodyFor(someHash()))

const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))

test('200: what nobody claimed goes back to whoever paid, once, and who wanted it is written down', async () => {
  const { reference, payer } = await makeUnmatched(market.db)
  const first = await post(bodyFor(`0x${reference.slice(2).toUpperCase()}`))
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
  expect((await post(bodyFor(reference))).body.data).toEqual(first.body.data)
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
  const replies = await Promise.all(Array.from({ length: 10 }, () => post(bodyFor(reference))))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1)
  expect(await balanceIn(market.db, payable(NETWORK, replies[0]?.body.data.id))).toBe(5_000_000n)
})

test('200: what was too much goes back to the payer, and what was due stays', async () => {
  const { reference, payer, purpose } = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_050_000n })
  const { body } = await post(bodyFor(reference, { from: 'surplus' }))
  expect(body.data).toMatchObject({ payee: payer, amount_usd: '0.05' })
  expect(await balanceIn(market.db, surplus(NETWORK, reference))).toBe(0n)
  expect(await balanceIn(market.db, escrow(NETWORK, purpose))).toBe(1_000_000n)
})

test('200: what the chain does not say who paid goes to the address that was found', async () => {
  const { reference } = await makeUnmatched(market.db, { payer: null })
  const { address } = evmSigner()
  const { body } = await post(bodyFor(reference, { payee: address }))
  expect(body.data.payee).toBe(address.toLowerCase())
})

test('200: refunds other payers of a claimed transaction, never the claimer', async () => {
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  invalid(await post(bodyFor(claimed.reference)), 'payee')
  expect(await inSuspense(claimed.reference)).toBe(70_000n)
  const { address } = evmSigner()
  const body = bodyFor(claimed.reference, { payee: address })
  const first = await post(body)
  expect(first.body.data).toMatchObject({ payee: address.toLowerCase(), amount_usd: '0.07', state: 'queued' })
  expect((await post(body)).body.data).toEqual(first.body.data)
  expect(await inSuspense(claimed.reference)).toBe(0n)
  expect(await balanceIn(market.db, escrow(NETWORK, claimed.purpose))).toBe(1_000_000n)
})

test('400: missing or invalid fields', async () => {
  invalid(await post({}), 'network', 'reference', 'from', 'reason')
  const wrong = { network: 'base', reference: '0x12', from: 'escrow', payee: 'me', reason: 'no' }
  invalid(await post(wrong), 'network', 'reference', 'from', 'payee', 'reason')
})

test('400: an address with a typo, of another chain or of nobody; nothing moves', async () => {
  const { reference } = await makeUnmatched(market.db, { payer: null })
  const wrong = [MISTYPED, CHECKSUMMED.toLowerCase(), (await solanaSigner()).address, `0x${'0'.repeat(40)}`]
  for (const payee of wrong) invalid(await post(bodyFor(reference, { payee })), 'payee')
  expect((await post(bodyFor(reference))).status).toBe(400)
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('403: an operator’s key, a user who is not an operator, and an agent', async () => {
  const { reference } = await makeUnmatched(market.db)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(PATH, bodyFor(reference), { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('404: an unknown transfer', async () => {
  rejected(await post(bodyFor(someHash())), 404, 'not_found')
  const { reference } = await makeUnmatched(market.db)
  rejected(await post(bodyFor(reference, { network: 'alt-mainnet' })), 404, 'not_found')
})

test('409: one that may still be undone, one with nothing to give, and a payee who did not pay', async () => {
  const seen = await makeUnmatched(market.db, { state: 'seen' })
  rejected(await post(bodyFor(seen.reference)), 409, 'conflict')
  const final = await makeUnmatched(market.db)
  rejected(await post(bodyFor(final.reference, { from: 'surplus' })), 409, 'conflict')
  rejected(await post(bodyFor(final.reference, { payee: evmSigner().address })), 409, 'conflict')
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n })
  rejected(await post(bodyFor(claimed.reference)), 409, 'conflict')
  expect(await inSuspense(final.reference)).toBe(5_000_000n)
  expect(await auditOf(market.db, final.reference)).toEqual([])
})
