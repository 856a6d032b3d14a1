import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import {
  FEES,
  type FeeMarket,
  makeFee,
  makeTokenAgent,
  someSignature,
  startFeeMarket,
  type TokenAgent,
} from '../support/creator-fees.ts'
import { makeAgent, makeUser, signOnce } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { decideByTwo, loginBefore, operatorToken, secondOperatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, CREATOR_FEE_WALLET } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import { auditOf } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const AMOUNT = 10_000_000n
const SHARE = 6_500_000n
const PREPARED = 100

let fees: FeeMarket
let agent: TokenAgent
let payments: string[]
beforeAll(async () => {
  fees = await startFeeMarket()
  agent = await makeTokenAgent(fees.market)
  payments = await fees.pay(agent.wallet, ...Array.from({ length: PREPARED }, () => SHARE))
})
afterAll(() => fees.market.stop())

const newFee = async () => (await makeFee(fees.market, agent, AMOUNT)).id
const payment = () => {
  const settleTx = payments.pop()
  if (settleTx === undefined) throw new Error(`more than ${PREPARED} payments are needed`)
  return settleTx
}
const pathOf = (id: string) => `${FEES}/${id}/settle`

let spare = ''
const subject: Subject = {
  market: () => fees.market,
  operation: operations.settleCreatorFee,
  good: async () => {
    spare = await newFee()
    return { path: pathOf(await newFee()), body: { settle_tx: payment() }, ask: { bearer: fees.bearer } }
  },
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, path: pathOf(spare), body: { settle_tx: payment() } }),
})
rejectsWithoutProvider(subject, pathOf('cfe_1'), { settle_tx: someSignature() })

const stateOf = (id: string) =>
  fees.market.db
    .selectFrom('creator_fees')
    .select(['status', 'payment_tx'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

test('200: records the operator and notifies the owner, for a fee that was recorded', async () => {
  const seller = await makeTokenAgent(fees.market)
  const [source_tx = ''] = await fees.payFees(seller.mint, AMOUNT)
  const [settle_tx = ''] = await fees.pay(seller.wallet, SHARE)
  const recorded = (await fees.record({ agent_id: seller.id, amount_sol: 0.01, source_tx })).body.data
  const { status, body } = await fees.settle(recorded.id, settle_tx)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: {
      ...recorded,
      status: 'settled',
      settle_tx,
      settled_by: `user:${ADMIN_USER}`,
      settled_at: expect.stringMatching(INSTANT),
    },
  })
  const details = { creator_fee_id: recorded.id, settle_tx, payee: seller.wallet, agent_sol: '0.0065' }
  expect(await auditOf(fees.market.db, seller.id)).toContainEqual({
    act: 'creator_fees.settle',
    actor: `user:${ADMIN_USER}`,
    details,
  })
  const headers = await signOnce(fees.market, seller.owner, 'session')
  const inbox = await fees.market.client().get('/api/notifications', { headers })
  expect(inbox.body.data).toContainEqual(
    expect.objectContaining({
      kind: 'agent.creator_fee_settled',
      title: `${seller.name} received creator fees`,
      body: `The transaction ${settle_tx} paid 0.0065 SOL, the share of ${seller.name}, to ${seller.wallet}.`,
      data: { agent_id: seller.id, ...details },
    }),
  )
})

test('200: a payment above the share, and one to the payout wallet of the agent', async () => {
  const [more = ''] = await fees.pay(agent.wallet, SHARE + 1n)
  expect((await fees.settle(await newFee(), more)).status).toBe(200)

  const seller = await makeTokenAgent(fees.market)
  const payoutWallet = (await fees.solana.wallet()).address
  await fees.market.db
    .updateTable('agents')
    .set({ payout_wallet: payoutWallet })
    .where('id', '=', seller.id)
    .execute()
  const { id } = await makeFee(fees.market, seller, AMOUNT)
  const [toServerWallet = ''] = await fees.pay(seller.wallet, SHARE)
  const [toPayoutWallet = ''] = await fees.pay(payoutWallet, SHARE)
  expect((await fees.settle(id, toServerWallet)).body.error).toContain(
    `paid 0 SOL from ${CREATOR_FEE_WALLET} to ${payoutWallet}`,
  )
  expect((await fees.settle(id, toPayoutWallet)).status).toBe(200)
})

test('200: the same transaction again, also by another operator, returns the settled fee', async () => {
  const [id, settleTx] = [await newFee(), payment()]
  const first = await fees.settle(id, settleTx)
  const again = await fees.settle(id, settleTx, await secondOperatorToken(fees.market))
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.body).toEqual(first.body)
})

test('200: of 20 concurrent requests with different transactions one settles the fee', async () => {
  const id = await newFee()
  const replies = await Promise.all(Array.from({ length: 20 }, () => fees.settle(id, payment())))
  const [settled, ...others] = replies.toSorted((a, b) => a.status - b.status)
  expect(settled?.status).toBe(200)
  for (const reply of others) rejected(reply, 409, 'creator_fee_settled')
  expect((await stateOf(id)).payment_tx).toBe(settled?.body.data.settle_tx)
  const entries = await auditOf(fees.market.db, agent.id)
  const ofFee = entries.filter(({ details }) => (details as Record<string, unknown>)['creator_fee_id'] === id)
  expect(ofFee).toHaveLength(1)
})

test('200: of 10 fees that one transaction is named for at the same time it settles one', async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, newFee))
  const settleTx = payment()
  const replies = await Promise.all(ids.map((id) => fees.settle(id, settleTx)))
  const [settled, ...others] = replies.toSorted((a, b) => a.status - b.status)
  expect(settled?.status).toBe(200)
  for (const reply of others) rejected(reply, 409, 'settle_tx_used')
})

test('400: missing or invalid fields', async () => {
  const id = await newFee()
  const post = (path: string, body: object) => fees.market.client().post(path, body, { bearer: fees.bearer })
  invalid(await post(pathOf(id), {}), 'settle_tx')
  invalid(await post(pathOf('fee_1'), { settle_tx: '0x12' }), 'creator_fee_id', 'settle_tx')
})

test('400: a transaction that paid less than the share, paid another wallet, or is unknown', async () => {
  const id = await newFee()
  const [less = ''] = await fees.pay(agent.wallet, SHARE - 1n)
  const [toOther = ''] = await fees.payBy(CREATOR_FEE_WALLET, SHARE)
  for (const [settleTx, text] of [
    [
      less,
      `paid 0.006499999 SOL from ${CREATOR_FEE_WALLET} to ${agent.wallet} but the agent’s share is 0.0065 SOL`,
    ],
    [toOther, `paid 0 SOL from ${CREATOR_FEE_WALLET} to ${agent.wallet} but`],
    [someSignature(), 'is not a transaction on solana-mainnet'],
  ] as const) {
    const details = [{ path: 'settle_tx', message: expect.stringContaining(text) }]
    rejected(await fees.settle(id, settleTx), 400, 'creator_fee_not_proven', { details })
  }
  expect(await stateOf(id)).toEqual({ status: 'accrued', payment_tx: null })
})

test('400: a transaction in which somebody else paid the agent settles nothing', async () => {
  const id = await newFee()
  const [byOther = ''] = await fees.payBy(agent.wallet, SHARE)
  const message = `paid 0 SOL from ${CREATOR_FEE_WALLET} to ${agent.wallet} but the agent’s share is 0.0065 SOL`
  rejected(await fees.settle(id, byOther), 400, 'creator_fee_not_proven', {
    details: [{ path: 'settle_tx', message }],
  })
  expect(await stateOf(id)).toEqual({ status: 'accrued', payment_tx: null })
})

test('409: a fee that two operators reversed', async () => {
  const id = await newFee()
  expect((await decideByTwo(fees.market, 'reverse_creator_fee', { creator_fee_id: id })).status).toBe(200)
  rejected(await fees.settle(id, payment()), 409, 'creator_fee_reversed')
  expect(await stateOf(id)).toEqual({ status: 'reversed', payment_tx: null })
})

test('401: an operator who signed in too long ago', async () => {
  const reply = await fees.settle(await newFee(), payment(), loginBefore(fees.market, 901))
  rejected(reply, 401, 'login_too_old')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(fees.market)
  const { apiKey } = await makeAgent(fees.market)
  const id = await newFee()
  for (const credential of [ADMIN_KEY, token, apiKey])
    rejected(await fees.settle(id, payment(), credential), 403, 'wrong_credential')
  expect((await stateOf(id)).status).toBe('accrued')
})

test('404: an unknown fee', async () => {
  rejected(await fees.settle('cfe_1_unknown', someSignature()), 404, 'creator_fee_not_found')
})

test('409: a settled fee with another transaction, and a transaction that settled another fee', async () => {
  const [id, settleTx] = [await newFee(), payment()]
  expect((await fees.settle(id, settleTx)).status).toBe(200)
  rejected(await fees.settle(id, payment()), 409, 'creator_fee_settled')
  const other = await newFee()
  rejected(await fees.settle(other, settleTx), 409, 'settle_tx_used')
  expect(await stateOf(id)).toEqual({ status: 'settled', payment_tx: settleTx })
  expect(await stateOf(other)).toEqual({ status: 'accrued', payment_tx: null })
})

test('503: without a wallet for creator fees, and without a Solana node', async () => {
  for (const [settings, code] of [
    [{ SOLANA_CREATOR_FEE_WALLET: '' }, 'creator_fees_unavailable'],
    [{}, 'wallets_unavailable'],
  ] as const) {
    const market = await startMarket(settings)
    try {
      const { id } = await makeFee(market, await makeTokenAgent(market))
      const ask = { bearer: await operatorToken(market) }
      const reply = await market.client().post(pathOf(id), { settle_tx: someSignature() }, ask)
      rejected(reply, 503, code)
      expect(reply.headers.get('retry-after')).toBe('60')
    } finally {
      await market.stop()
    }
  }
})
