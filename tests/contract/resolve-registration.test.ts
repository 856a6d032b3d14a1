import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { DESCRIPTION, makeUser, someName } from '../support/makers.ts'
import { operatorToken, secondOperatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const FEE = 1_000_000n
const NONE = 'hir_1700000000000_00000000000000000'
const OPERATORS_WALLET = `0x${'c3'.repeat(20)}`
const LINK = { chain: 'base', verified_at: new Date() }
const RELEASE = { outcome: 'release', note: 'Both were heard.' }

let world: OrderWorld
let spare = ''
beforeAll(async () => {
  world = await startOrderWorld()
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/admin/contests/${id}/resolve`
const resolve = async (id: string, body: unknown, ask?: RequestOptions) =>
  world.market.client().post(pathOf(id), body, ask ?? { bearer: await operatorToken(world.market) })

/** A transfer that registered an agent and was then named for another one. */
async function contested(): Promise<{ id: string; apiKey: string }> {
  const hash = await world.settled(await world.newBuyer(), FEE)
  const register = () =>
    world.market
      .client()
      .post(
        '/api/agents/register?pay=x402',
        { name: someName(), description: DESCRIPTION },
        { headers: { 'x-payment': hash } },
      )
  const { agent_id, api_key } = (await register()).body.data
  expect((await register()).body.code).toBe('payment_contested')
  const row = await world.market.db
    .selectFrom('purchases')
    .select('id')
    .where('result_id', '=', agent_id)
    .executeTakeFirstOrThrow()
  return { id: row.id, apiKey: api_key }
}

const subject: Subject = {
  market: () => world.market,
  operation: operations.resolveRegistration,
  good: async () => {
    spare = (await contested()).id
    const path = pathOf((await contested()).id)
    return { path, body: RELEASE, ask: { bearer: await operatorToken(world.market) } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: pathOf(spare) }) })
rejectsWithoutProvider(subject, pathOf(NONE), RELEASE)

const isKeyValid = async (bearer: string) =>
  (await world.market.client().get('/api/agents/me', { bearer })).status === 200

test('200: release keeps the registration, refund pays the payer back and stops the API key', async () => {
  const [kept, refunded] = [await contested(), await contested()]
  const reply = await resolve(kept.id, RELEASE)
  expect(reply.body).toEqual({ success: true, data: { purchase_id: kept.id, outcome: 'release' } })
  expect(await isKeyValid(kept.apiKey)).toBe(true)
  expect((await resolve(refunded.id, { outcome: 'refund', note: 'It was another.' })).status).toBe(200)
  expect(await isKeyValid(refunded.apiKey)).toBe(false)
  const payouts = await world.market.db
    .selectFrom('payouts')
    .select(['kind', 'amount_micros'])
    .where('subject', 'in', [kept.id, refunded.id])
    .execute()
  expect(payouts).toEqual([{ kind: 'refund', amount_micros: FEE }])
})

test('403: an operator who paid for the registration, or owns the agent', async () => {
  const bearer = await operatorToken(world.market)
  await world.market.client().post('/api/auth/user', undefined, { bearer })
  const { id } = await contested()
  const { result_id } = await world.market.db
    .updateTable('purchases')
    .set({ payer: OPERATORS_WALLET })
    .where('id', '=', id)
    .returning('result_id')
    .executeTakeFirstOrThrow()
  await world.market.db
    .insertInto('user_wallets')
    .values({ ...LINK, wallet_key: OPERATORS_WALLET, address: OPERATORS_WALLET, idp_user_id: ADMIN_USER })
    .execute()
  rejected(await resolve(id, RELEASE, { bearer }), 403, 'own_case')
  await world.market.db.deleteFrom('user_wallets').where('wallet_key', '=', OPERATORS_WALLET).execute()
  await world.market.db
    .updateTable('agents')
    .set({ owner_user_id: ADMIN_USER })
    .where('id', '=', result_id)
    .execute()
  rejected(await resolve(id, RELEASE, { bearer }), 403, 'own_case')
  const other = await secondOperatorToken(world.market)
  expect((await resolve(id, RELEASE, { bearer: other })).status).toBe(200)
})

test('400: an unknown outcome, a note that is too short', async () => {
  invalid(await resolve(NONE, { outcome: 'split', note: 'Both were heard.' }), 'outcome')
  invalid(await resolve(NONE, { outcome: 'refund', note: 'x' }), 'note')
})

test('403: an admin key and a user who is not an operator', async () => {
  const { token } = await makeUser(world.market)
  for (const bearer of [ADMIN_KEY, token])
    rejected(await resolve(NONE, RELEASE, { bearer }), 403, 'wrong_credential')
})

test('404: a registration that is not contested, or no longer', async () => {
  rejected(await resolve(NONE, RELEASE), 404, 'contest_not_found')
  const { id } = await contested()
  expect((await resolve(id, RELEASE)).status).toBe(200)
  rejected(await resolve(id, RELEASE), 404, 'contest_not_found')
})
