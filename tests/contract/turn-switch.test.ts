import { operations } from '@market/contract/operations'
import { ADMIN_ROLE } from '@market/testing/idp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { loginBefore, operatorToken, turn, whileOn } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/switches/freeze_payouts'
const OFF = { on: false, reason: 'All is well' }

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const put = (path: string, body: unknown, ask: RequestOptions) => market.client().put(path, body, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.turnSwitch,
  good: async () => ({ path: PATH, body: OFF, ask: { bearer: await operatorToken(market) } }),
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, body: { ...OFF, reason: 'Another reason' } }),
})
rejectsWithoutProvider(subject, PATH, OFF)

test('200: on, on again with the same on_since, and off', async () => {
  const bearer = await operatorToken(market)
  const state = (more: object) => ({
    name: 'freeze_payouts',
    on: true,
    on_since: expect.stringMatching(INSTANT),
    changed_at: expect.stringMatching(INSTANT),
    changed_by: `user:${ADMIN_USER}`,
    complete_at: null,
    ...more,
  })
  const first = await put(PATH, { on: true, reason: 'Something is odd' }, { bearer })
  expect(first.status).toBe(200)
  expect(first.body).toEqual({ success: true, data: state({ reason: 'Something is odd' }) })

  await market.advance(1_000)
  const again = await put(PATH, { on: true, reason: 'Still odd' }, { bearer })
  const { on_since } = first.body.data
  expect(again.body.data).toEqual(state({ on_since, reason: 'Still odd' }))
  expect(again.body.data.changed_at > first.body.data.changed_at).toBe(true)

  const off = await put(PATH, OFF, { bearer })
  expect(off.body.data).toEqual(state({ on: false, on_since: null, reason: 'All is well' }))
})

test('200: an operator can change switches while the market is read-only', async () => {
  await whileOn(market, 'read_only', async () => {
    const { status } = await put(PATH, OFF, { bearer: await operatorToken(market) })
    expect(status).toBe(200)
  })
})

test('200: records operator, reason and request id in the audit log', async () => {
  await turn(market, 'freeze_intake', true)
  await turn(market, 'freeze_intake', false)
  const entries = await market.db
    .selectFrom('audit_log')
    .select(['act', 'actor', 'details'])
    .where('subject', '=', 'freeze_intake')
    .orderBy('seq')
    .execute()
  const written = { actor: `user:${ADMIN_USER}`, details: { reason: 'A test turns it' } }
  expect(entries).toEqual([
    { act: 'switch.on', ...written },
    { act: 'switch.off', ...written },
  ])
})

test('400: an unknown switch, a missing, short or long reason, and `on` that is not a boolean', async () => {
  const bearer = await operatorToken(market)
  invalid(await put('/api/admin/switches/everything', OFF, { bearer }), 'name')
  invalid(await put(PATH, {}, { bearer }), 'on', 'reason')
  invalid(await put(PATH, { on: 'true', reason: 'x'.repeat(501) }, { bearer }), 'on', 'reason')
  invalid(await put(PATH, { on: true, reason: 'no' }, { bearer }), 'reason')
  invalid(await put(PATH, { on: true, reason: 'two\nlines' }, { bearer }), 'reason')
})

test('401: an operator who signed in more than 15 minutes ago', async () => {
  const bearer = loginBefore(market, 960)
  rejected(await put(PATH, { on: true, reason: 'An old login' }, { bearer }), 401, 'login_too_old')
})

test('403: a listed operator without the admin claim, and a user with the claim who is not listed', async () => {
  const listed = await market.idp.token({ sub: ADMIN_USER })
  const claimed = await market.idp.token({ sub: 'somebody', roles: [ADMIN_ROLE] })
  for (const bearer of [listed, claimed])
    rejected(await put(PATH, { on: true, reason: 'Let me in' }, { bearer }), 403, 'wrong_credential')
})

test('403: an admin key, which may only read; a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [ADMIN_KEY, token, apiKey]) {
    rejected(await put(PATH, { on: true, reason: 'Let me in' }, { bearer }), 403, 'wrong_credential')
  }
  const { body } = await market.client().get('/api/admin/switches', { bearer: ADMIN_KEY })
  expect(body.data).not.toContainEqual(expect.objectContaining({ on: true }))
})
