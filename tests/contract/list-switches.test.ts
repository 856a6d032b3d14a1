import { SWITCHES } from '@market/contract/define'
import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken, whileOn } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/switches'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listSwitches,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const untouched = (name: string) => ({
  name,
  on: false,
  on_since: null,
  changed_at: null,
  changed_by: null,
  reason: null,
  complete_at: null,
})

test('200: all switches, also unchanged ones, for an admin key and an operator', async () => {
  for (const bearer of [ADMIN_KEY, await operatorToken(market)]) {
    const { status, body } = await market.client().get(PATH, { bearer })
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, data: SWITCHES.map(untouched) })
  }
})

test('200: a switch that is on has its time, operator and reason', async () => {
  await whileOn(market, 'freeze_payouts', async () => {
    const { body } = await market.client().get(PATH, { bearer: ADMIN_KEY })
    expect(body.data).toContainEqual({
      name: 'freeze_payouts',
      on: true,
      on_since: expect.stringMatching(INSTANT),
      changed_at: expect.stringMatching(INSTANT),
      changed_by: `user:${ADMIN_USER}`,
      reason: 'A test turns it',
      complete_at: null,
    })
    expect(body.data).toContainEqual(untouched('freeze_intake'))
  })
})

test('400: an unknown query field', async () => {
  invalid(await market.client().get(`${PATH}?on=true`, { bearer: ADMIN_KEY }), '')
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) {
    rejected(await market.client().get(PATH, { bearer }), 403, 'wrong_credential')
  }
})
