import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { approveAs, operatorToken, proposeAs, secondOperatorToken } from '../support/operator.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, ADMIN_USER } from '../support/settings.ts'
import { raisePrice } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const RELEASE = { outcome: 'release', note: 'Both were heard.' }

let world: OrderWorld
let parties: Parties
let spare = ''
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
})
afterAll(() => world.stop())

const pathOf = (id: string) => `/api/admin/orders/${id}/resolve`
const resolve = async (id: string, body: unknown, ask?: RequestOptions) =>
  world.market.client().post(pathOf(id), body, ask ?? { bearer: await operatorToken(world.market) })

const subject: Subject = {
  market: () => world.market,
  operation: operations.resolveDispute,
  good: async () => {
    spare = await world.walk(parties, 'disputed')
    const path = pathOf(await world.walk(parties, 'disputed'))
    return { path, body: RELEASE, ask: { bearer: await operatorToken(world.market) } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: pathOf(spare) }) })
rejectsWithoutProvider(subject, pathOf(NO_ORDER), RELEASE)

const payoutsOf = async (subjectId: string) => {
  const rows = await world.market.db
    .selectFrom('payouts')
    .select(['kind', 'amount_micros'])
    .where('subject', '=', subjectId)
    .execute()
  return Object.fromEntries(rows.map((row) => [row.kind, row.amount_micros]))
}

test('200: release pays the agent, refund pays the buyer, split pays both with the fee from the agent’s share', async () => {
  const verdicts = [
    [{ outcome: 'release' }, { status: 'completed', outcome: 'released' }, { payout: 22_500_000n }],
    [{ outcome: 'refund' }, { status: 'cancelled', outcome: 'refunded' }, { refund: 25_000_000n }],
    [
      { outcome: 'split', agent_share_bps: 3_333 },
      { status: 'completed', outcome: 'split' },
      { payout: 7_499_250n, refund: 16_667_500n },
    ],
  ] as const
  for (const [verdict, order, payouts] of verdicts) {
    const id = await world.walk(parties, 'disputed')
    const { status, body } = await resolve(id, { ...verdict, note: 'Both were heard.' })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ id, ...order })
    expect(await payoutsOf(id)).toEqual(payouts)
  }
})

test('200: records operator and reason in the audit log and notifies the buyer', async () => {
  const id = await world.walk(parties, 'disputed')
  await resolve(id, { outcome: 'split', agent_share_bps: 5_000, note: 'Half of it is blue.' })
  const entries = await world.market.db
    .selectFrom('audit_log')
    .select(['act', 'actor', 'details'])
    .where('subject', '=', id)
    .execute()
  expect(entries).toEqual([
    {
      act: 'order.split',
      actor: `user:${ADMIN_USER}`,
      details: { outcome: 'split', agentShareBps: 5_000, note: 'Half of it is blue.' },
    },
  ])
  const inbox = await world.market
    .client()
    .get('/api/notifications', { headers: await parties.buyer.headers() })
  expect(inbox.body.data[0]).toMatchObject({ kind: 'order.resolved', body: 'Half of it is blue.' })
})

test('200: a note of the maximum length; 400 for a longer one', async () => {
  const id = await world.walk(parties, 'disputed')
  invalid(await resolve(id, { outcome: 'refund', note: 'ä'.repeat(1_001) }), 'note')
  expect((await resolve(id, { outcome: 'refund', note: 'ä'.repeat(1_000) })).status).toBe(200)
})

test('400: a share without a split, a split without a share, an invalid share, and no note', async () => {
  const id = await world.walk(parties, 'disputed')
  const note = 'Both were heard.'
  invalid(await resolve(id, { ...RELEASE, agent_share_bps: 1 }), 'agent_share_bps')
  invalid(await resolve(id, { outcome: 'split', note }), 'agent_share_bps')
  for (const agent_share_bps of [0, 10_000, 1.5])
    invalid(await resolve(id, { outcome: 'split', note, agent_share_bps }), 'agent_share_bps')
  invalid(await resolve(id, { outcome: 'burn' }), 'outcome', 'note')
  invalid(await resolve('order_1', RELEASE), 'order_id')
})

test('400: an order that is not disputed', async () => {
  const id = await world.walk(parties, 'delivered')
  for (const outcome of ['release', 'refund'])
    rejected(await resolve(id, { ...RELEASE, outcome }), 400, 'illegal_transition')
})

test('403: an admin key, a user who is not an operator, and the parties', async () => {
  const id = await world.walk(parties, 'disputed')
  const { token } = await makeUser(world.market)
  for (const bearer of [ADMIN_KEY, token, parties.seller.apiKey])
    rejected(await resolve(id, RELEASE, { bearer }), 403, 'wrong_credential')
  const headers = await parties.buyer.headers()
  rejected(await resolve(id, RELEASE, { headers }), 403, 'wrong_credential')
})

/** A disputed order in which the operator has this part. */
const OWN_CASES = {
  'is the buyer': async (id: string) => setBuyer(id, `user:${ADMIN_USER}`),
  'owns the selling agent': async (_id: string, agentId: string) => setOwner(agentId),
  'owns the buying agent': async (id: string) => {
    const { id: agentId } = await makeAgent(world.market)
    await setOwner(agentId)
    await setBuyer(id, `agent:${agentId}`)
  },
} as const

const setBuyer = (id: string, buyer: string) =>
  world.market.db
    .updateTable('orders')
    .set({ buyer, client_wallet: null, client_proven_by: null })
    .where('id', '=', id)
    .execute()
const setOwner = async (agentId: string) => {
  await world.market.client().post('/api/auth/user', undefined, { bearer: await operatorToken(world.market) })
  await world.market.db
    .updateTable('agents')
    .set({ owner_user_id: ADMIN_USER })
    .where('id', '=', agentId)
    .execute()
}

test.each(Object.entries(OWN_CASES))('403: an operator who %s', async (_case, makeParty) => {
  const own = await world.newParties()
  const id = await world.walk(own, 'disputed')
  await makeParty(id, own.seller.id)
  rejected(await resolve(id, RELEASE), 403, 'own_case')
  const bearer = await secondOperatorToken(world.market)
  expect((await resolve(id, RELEASE, { bearer })).status).toBe(200)
})

test.each(Object.entries(OWN_CASES))('403: an approval of an operator who %s', async (_case, makeParty) => {
  const own = await world.newParties()
  const id = await world.walk(own, 'disputed')
  await raisePrice(world.market.db, id, 600_000_000n)
  await makeParty(id, own.seller.id)
  const [first, second] = [await operatorToken(world.market), await secondOperatorToken(world.market)]
  const payload = { order_id: id, ...RELEASE }
  rejected(await proposeAs(world.market, 'resolve_dispute', payload, first), 403, 'own_case')
  const { body } = await proposeAs(world.market, 'resolve_dispute', payload, second)
  rejected(await approveAs(world.market, body.data.id, first), 403, 'own_case')
})

test('404: a missing order', async () => {
  rejected(await resolve(NO_ORDER, RELEASE), 404, 'order_not_found')
})

test('409: an order above 500 USD needs two operators; at 500 USD one decides', async () => {
  const priced = async (micros: bigint) => {
    const id = await world.walk(parties, 'disputed')
    await raisePrice(world.market.db, id, micros)
    return id
  }
  const above = await priced(500_000_001n)
  rejected(await resolve(above, RELEASE), 409, 'approval_required')
  expect(await payoutsOf(above)).toEqual({})
  expect((await resolve(await priced(500_000_000n), RELEASE)).status).toBe(200)
})
