import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, loginBefore, operatorToken, proposeAs, secondOperatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER, SECOND_ADMIN_USER } from '../support/settings.ts'
import { auditOf, CHECKSUMMED, makeFailed } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string) => `/api/admin/approvals/${id}/reject`
const NO_APPROVAL = `apr_1700000000000_${'0'.repeat(17)}`
const BODY = { reason: 'The payee did not answer' }

let market: Market
let bearer: string
beforeAll(async () => {
  market = await startMarket()
  bearer = await secondOperatorToken(market)
})
afterAll(() => market.stop())

async function makeProposal() {
  const payout = await makeFailed(market.db)
  const payload = { payout_id: payout.id, payee: CHECKSUMMED }
  return { payout, id: (await proposeAs(market, 'redirect_payout', payload)).body.data.id as string }
}

const reject = (id: string, credential = bearer) =>
  market.client().post(pathOf(id), BODY, { bearer: credential })

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.rejectApproval,
  good: async () => {
    spare = (await makeProposal()).id
    return { path: pathOf((await makeProposal()).id), body: BODY, ask: { bearer } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: pathOf(spare) }) })
rejectsWithoutProvider(subject, pathOf(NO_APPROVAL), BODY)

test('200: another operator rejects it, or the proposer withdraws it; it cannot be approved any more', async () => {
  const operators = [
    [SECOND_ADMIN_USER, bearer],
    [ADMIN_USER, await operatorToken(market)],
  ] as const
  for (const [user, token] of operators) {
    const { payout, id } = await makeProposal()
    const { status, body } = await reject(id, token)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      id,
      state: 'rejected',
      approver: null,
      rejected_by: `user:${user}`,
      decided_at: expect.any(String),
    })
    rejected(await approveAs(market, id), 409, 'approval_decided')
    const [, entry] = await auditOf(market.db, payout.id)
    expect(entry).toMatchObject({
      act: 'approval.rejected',
      actor: `user:${user}`,
      details: { approval: id, reason: BODY.reason },
    })
  }
})

test('400: an invalid id, and no reason', async () => {
  invalid(await reject('apr_1'), 'approval_id')
  const { id } = await makeProposal()
  invalid(await market.client().post(pathOf(id), {}, { bearer }), 'reason')
})

test('401: a login that is older than 15 minutes', async () => {
  const { id } = await makeProposal()
  rejected(await reject(id, loginBefore(market, 960)), 401, 'login_too_old')
})

test('403: an admin key, a user who is not an operator, and an agent', async () => {
  const { id } = await makeProposal()
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const credential of [ADMIN_KEY, token, apiKey])
    rejected(await reject(id, credential), 403, 'wrong_credential')
})

test('404: an unknown approval', async () => {
  rejected(await reject(NO_APPROVAL), 404, 'not_found')
})

test('409: one that was decided before', async () => {
  const { id } = await makeProposal()
  expect((await approveAs(market, id)).status).toBe(200)
  rejected(await reject(id), 409, 'approval_decided')
})
