import { brokenConstraint } from '@market/database/transact'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FeeMarket, makeFee, makeTokenAgent, solOf, startFeeMarket } from '../support/creator-fees.ts'
import { signOnce } from '../support/makers.ts'
import { decideByTwo, proposeAs } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { INSTANT } from '../support/shapes.ts'
import { auditOf } from '../support/treasury.ts'

const KIND = 'reverse_creator_fee'
const AMOUNT = 10_000_000n
const SHARE = 6_500_000n

let fees: FeeMarket
beforeAll(async () => {
  fees = await startFeeMarket()
})
afterAll(() => fees.market.stop())

const reverse = (creator_fee_id: string) => decideByTwo(fees.market, KIND, { creator_fee_id })
const listed = async (agentId: string, query = '') => {
  const path = `/api/admin/creator-fees?agent_id=${agentId}${query}`
  return (await fees.market.client().get(path, { bearer: fees.bearer })).body
}
const NONE = { count: 0, amount_sol: 0, agent_sol: 0, partner_sol: 0, buyback_sol: 0 }

test('two operators reverse a wrong record, and its transactions are recorded for the right agent', async () => {
  const [wrong, right] = [await makeTokenAgent(fees.market), await makeTokenAgent(fees.market)]
  const [source_tx = ''] = await fees.payFees(right.mint, AMOUNT)
  // As it was recorded before the mint was checked.
  const { id } = await makeFee(fees.market, wrong, AMOUNT, source_tx)
  const [paidWrong = ''] = await fees.pay(wrong.wallet, SHARE)
  expect((await fees.settle(id, paidWrong)).status).toBe(200)
  const record = { agent_id: right.id, amount_sol: solOf(AMOUNT), source_tx }
  rejected(await fees.record(record), 409, 'source_tx_used', { creator_fee_id: id })

  const { status, body } = await reverse(id)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    subject: id,
    summary: `reverse the creator fee ${id}: 0.01 SOL of ${wrong.mint} for ${wrong.id} by ${source_tx}, settled by ${paidWrong}`,
  })
  const { data, totals } = await listed(wrong.id, '&status=reversed')
  expect(data).toMatchObject([
    {
      ...{ id, status: 'reversed', settle_tx: paidWrong, approval_id: body.data.id },
      reversed_at: expect.stringMatching(INSTANT),
    },
  ])
  expect(totals).toEqual({ accrued: NONE, settled: NONE })
  expect(await auditOf(fees.market.db, wrong.id)).toContainEqual({
    act: 'creator_fees.reverse',
    actor: expect.stringMatching(/^user:/),
    details: {
      ...{ creator_fee_id: id, source_tx, amount_sol: '0.01', settle_tx: paidWrong },
      approval: body.data.id,
    },
  })
  const headers = await signOnce(fees.market, wrong.owner, 'session')
  const inbox = await fees.market.client().get('/api/notifications', { headers })
  expect(inbox.body.data).toContainEqual(expect.objectContaining({ kind: 'approval.approved' }))

  const recorded = await fees.record(record)
  expect(recorded.status).toBe(201)
  const [paidRight = ''] = await fees.pay(right.wallet, SHARE)
  expect((await fees.settle(recorded.body.data.id, paidRight)).status).toBe(200)
})

test('a settled fee of a wrong amount is reversed, recorded again and settled by the same payment', async () => {
  const agent = await makeTokenAgent(fees.market)
  const [source_tx = ''] = await fees.payFees(agent.mint, AMOUNT)
  const [payment = ''] = await fees.pay(agent.wallet, SHARE)
  const { id } = await makeFee(fees.market, agent, AMOUNT / 2n, source_tx)
  expect((await fees.settle(id, payment)).status).toBe(200)
  await reverse(id)
  const again = await fees.record({ agent_id: agent.id, amount_sol: solOf(AMOUNT), source_tx })
  expect((await fees.settle(again.body.data.id, payment)).status).toBe(200)
})

test('400, 404 and 409: an invalid id, an unknown fee, and one that was reversed', async () => {
  invalid(await proposeAs(fees.market, KIND, { creator_fee_id: 'cfe_1' }), 'payload.creator_fee_id')
  const unknown = { creator_fee_id: `cfe_1700000000000_${'0'.repeat(17)}` }
  rejected(await proposeAs(fees.market, KIND, unknown), 404, 'creator_fee_not_found')
  const { id } = await makeFee(fees.market, await makeTokenAgent(fees.market))
  await reverse(id)
  rejected(await proposeAs(fees.market, KIND, { creator_fee_id: id }), 409, 'creator_fee_reversed')
})

test('creator_fees: the database rejects a reversal without an approval of this fee by two operators', async () => {
  const agent = await makeTokenAgent(fees.market)
  const [one, other] = [await makeFee(fees.market, agent), await makeFee(fees.market, agent)]
  const proposed = await proposeAs(fees.market, KIND, { creator_fee_id: one.id })
  const approved = await reverse(other.id)
  for (const approval_id of [proposed.body.data.id, approved.body.data.id]) {
    const change = fees.market.db
      .updateTable('creator_fees')
      .set({ status: 'reversed', approval_id, reversed_at: new Date() })
      .where('id', '=', one.id)
      .execute()
    expect(await change.then(() => 'none', brokenConstraint)).toBe('creator_fees_reversal')
  }
})
