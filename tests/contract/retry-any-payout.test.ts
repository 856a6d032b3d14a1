import { operations } from '@market/contract/operations'
import { payable } from '@market/money/ledger'
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
import {
  auditOf,
  BLOCKED,
  balanceIn,
  CHECKSUMMED,
  MISTYPED,
  makeFailed,
  makePayout,
  NETWORK,
} from '../support/treasury.ts'

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

test('200: a failed payout begins another round to the same payee, and who wanted it is written down', async () => {
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
        payee_before: payee,
        round: 2,
      },
    },
  ])
})

test('200: to another payee, and both stand in the audit log', async () => {
  const { id, payee } = await makeFailed(market.db)
  const { address } = evmSigner()
  expect((await retry(id, { payee: address })).body.data.payee).toBe(address.toLowerCase())
  const [entry] = await auditOf(market.db, id)
  expect(entry?.details).toMatchObject({ payee: address.toLowerCase(), payee_before: payee })
})

test('200: one that had no address is paid at the one that is given, on Solana too', async () => {
  const { id } = await makeFailed(market.db, { payee: null, network: 'solana-mainnet' })
  invalid(await retry(id), 'payee')
  const { address } = await solanaSigner()
  expect((await retry(id, { payee: address })).body.data).toMatchObject({ payee: address, state: 'queued' })
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
  invalid(await post({ payee: 'me', reason: 'no' }, pathOf(id)), 'payee', 'reason')
})

test('400: an address with a typo, of another chain or of nobody; nothing changes', async () => {
  const { id, payee } = await makeFailed(market.db)
  const wrong = [MISTYPED, CHECKSUMMED.toLowerCase(), (await solanaSigner()).address, `0x${'0'.repeat(40)}`]
  for (const one of wrong) invalid(await retry(id, { payee: one }), 'payee')
  expect(await rowOf(id)).toEqual({ state: 'failed', payee, round: 1, reason: BLOCKED })
})

test('403: an operator’s key, a user who is not an operator, and an agent', async () => {
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

test('409: one that has not failed keeps its payee', async () => {
  const { id, payee } = await makePayout(market.db)
  rejected(await retry(id), 409, 'conflict')
  rejected(await retry(id, { payee: evmSigner().address }), 409, 'conflict')
  expect(await rowOf(id)).toMatchObject({ state: 'queued', payee, round: 1 })
  expect(await auditOf(market.db, id)).toEqual([])
})
