import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken, turn } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/audit-head'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.getAuditHead,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => market.client().get(`${PATH}${query}`, { bearer })

test('200: the newest entry, which an earlier head still belongs to after more entries', async () => {
  await turn(market, 'freeze_intake', false)
  const first = (await get()).body.data
  expect(first).toEqual({ seq: expect.any(Number), seal: expect.stringMatching(/^[0-9a-f]{64}$/) })
  await turn(market, 'freeze_intake', false)
  const second = (await get('', await operatorToken(market))).body.data
  expect(second.seq).toBe(first.seq + 1)
  expect(second.seal).not.toBe(first.seal)
  expect((await get(`?seq=${first.seq}`)).body.data).toEqual(first)
})

test('400: a number that no entry can have', async () => {
  for (const seq of ['0', '-1', '1.5', 'x']) invalid(await get(`?seq=${seq}`), 'seq')
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})

test('404: an entry that does not exist', async () => {
  rejected(await get('?seq=1000000'), 404, 'audit_entry_not_found')
})
