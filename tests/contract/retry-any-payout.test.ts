import { operations } from '@market/contract/operations'
import { payable } from '@market/money/ledger'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { auditOf, BLOCKED, balanceIn, makeFailed, makePayout, NETWORK } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/admin/payouts/${id}/retry`
const PATH = pathOf(`pay_${'0'.repeat(32)}`)
const REASON = 'The payer asked for it'

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await operatorToken(market)
})
afterAll(() => market.stop())

const post = (body: unknown, path = PATH) => market.client().post(path, body, { bearer })

const retry = (id: string, more: object = {}) => post({ reason: REASON, ...more }, pathOf(id))

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.retryAnyPayout,
  good: async () => {
    spare = pathOf((await makeFailed(market.db)).id)
    return { path: pathOf((await makeFailed(market.db)).id), body: { reason: REASON }, ask: { bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: spare }),
})
rejectsWithoutProvider(subject, PATH, { reason: REASON })

const rowOf = (id: string) =>
  market.db
    .selectFrom('payouts')
    .select(['state', 'payee', 'round', 'reason'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

test('200: retries a failed payout to the same payee, and records the operator', async () => {
  const { id, payee } = await makeFailed(market.db)
  const { status, body } = await retry(id)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ id, payee, state: 'queued', reason: null, round: 2, tx_hash: null })
  expect(await rowOf(id)).toEqual({ state: 'queued', payee, round: 2, reason: null })
  expect(await balanceIn(market.db, payable(NETWORK, id))).toBe(5_000_000n)
  expect(await auditOf(market.db, id)).toEqual([
    {
      act: 'payout.retried',
      actor: `user:${ADMIN_USER}`,
      details: {
        reason: REASON,
        network: NETWORK,
        amount_usd: '5.00',
        payee,
        round: 2,
      },
    },
  ])
})

test('200: ten concurrent requests start one retry', async () => {
  const { id } = await makeFailed(market.db)
  const replies = await Promise.all(Array.from({ length: 10 }, () => retry(id)))
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(9)
  expect((await rowOf(id)).round).toBe(2)
})

test('400: an invalid id, and fields that are missing or wrong', async () => {
  invalid(await retry('pay_0'), 'payout_id')
  const { id } = await makeFailed(market.db)
  invalid(await post({ reason: 'no' }, pathOf(id)), 'reason')
})

test('400: one operator cannot name another payee', async () => {
  const { id, payee } = await makeFailed(market.db)
  invalid(await retry(id, { payee: evmSigner().address }), '')
  expect(await rowOf(id)).toEqual({ state: 'failed', payee, round: 1, reason: BLOCKED })
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { id } = await makeFailed(market.db)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey]) {
    const reply = await market.client().post(pathOf(id), { reason: REASON }, { bearer: credential })
    rejected(reply, 403, 'wrong_credential')
  }
  expect((await rowOf(id)).state).toBe('failed')
})

test('404: a payout that does not exist', async () => {
  rejected(await retry(`pay_${'0'.repeat(32)}`), 404, 'not_found')
})

test('409: a payout that has not failed', async () => {
  const { id, payee } = await makePayout(market.db)
  rejected(await retry(id), 409, 'conflict')
  expect(await rowOf(id)).toMatchObject({ state: 'queued', payee, round: 1 })
  expect(await auditOf(market.db, id)).toEqual([])
})

test('409: a payout without an address needs two operators', async () => {
  const { id } = await makeFailed(market.db, { payee: null })
  rejected(await retry(id), 409, 'approval_required')
  expect(await rowOf(id)).toMatchObject({ state: 'failed', payee: null, round: 1 })
})
