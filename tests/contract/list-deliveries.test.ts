import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const PATH = '/api/agents/me/deliveries'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.listDeliveries,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (bearer: string, query = '') => market.client().get(`${PATH}${query}`, { bearer })

const AT = new Date('2026-02-03T04:05:06.789Z')
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

const pending = (agentId: string, n: number) => ({
  id: idOf(n),
  created_at: new Date(AT.getTime() + n),
  agent_id: agentId,
  seq: BigInt(n),
  event: 'order.paid',
  order_id: `ord_${n}`,
  status: 'pending',
  due_at: new Date(AT.getTime() + 1_000),
})

const ended = { due_at: null, ended_at: AT, first_attempt_at: AT }

const write = (...rows: ReturnType<typeof pending>[]) =>
  market.db.insertInto('deliveries').values(rows).execute()

test('200: an empty list for an agent without deliveries', async () => {
  const { apiKey } = await makeAgent(market)
  const { status, body } = await get(apiKey)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: [], next_cursor: null })
})

test('200: all fields of the agent’s pending, delivered and dropped deliveries, newest first', async () => {
  const { id, apiKey } = await makeAgent(market)
  const otherUser = await makeAgent(market)
  await market.db
    .insertInto('deliveries')
    .values([
      {
        ...pending(id, 101),
        attempts: 1,
        response_status: 500,
        failure: 'The endpoint responded with status 500',
      },
      { ...pending(id, 102), ...ended, status: 'delivered', attempts: 2, response_status: 204 },
      {
        ...pending(id, 103),
        ...ended,
        status: 'dropped',
        attempts: 3,
        failure: 'The connection to the endpoint failed',
      },
      {
        ...pending(id, 104),
        ...ended,
        seq: 0n,
        status: 'delivered',
        attempts: 1,
        event: 'webhook.test',
        order_id: '',
      },
      pending(otherUser.id, 105),
    ])
    .execute()
  const common = { event: 'order.paid', response_status: null, failure: null, next_attempt_at: null }
  const endedAt = { ended_at: AT.toISOString() }
  expect((await get(apiKey)).body).toEqual({
    success: true,
    data: [
      {
        ...common,
        ...endedAt,
        delivery_id: idOf(104),
        cursor: null,
        event: 'webhook.test',
        order_id: '',
        status: 'delivered',
        attempts: 1,
        created_at: '2026-02-03T04:05:06.893Z',
      },
      {
        ...common,
        ...endedAt,
        delivery_id: idOf(103),
        cursor: '103',
        order_id: 'ord_103',
        status: 'dropped',
        attempts: 3,
        failure: 'The connection to the endpoint failed',
        created_at: '2026-02-03T04:05:06.892Z',
      },
      {
        ...common,
        ...endedAt,
        delivery_id: idOf(102),
        cursor: '102',
        order_id: 'ord_102',
        status: 'delivered',
        attempts: 2,
        response_status: 204,
        created_at: '2026-02-03T04:05:06.891Z',
      },
      {
        ...common,
        delivery_id: idOf(101),
        cursor: '101',
        order_id: 'ord_101',
        status: 'pending',
        attempts: 1,
        response_status: 500,
        failure: 'The endpoint responded with status 500',
        next_attempt_at: '2026-02-03T04:05:07.789Z',
        created_at: '2026-02-03T04:05:06.890Z',
        ended_at: null,
      },
    ],
    next_cursor: null,
  })
  for (const [status, ids] of [
    ['pending', [101]],
    ['delivered', [104, 102]],
    ['dropped', [103]],
  ] as const) {
    const { data } = (await get(apiKey, `?status=${status}`)).body
    expect(data.map((one: { delivery_id: string }) => one.delivery_id)).toEqual(ids.map(idOf))
  }
})

test('200: pages contain every delivery once, also within one millisecond', async () => {
  const { id, apiKey } = await makeAgent(market)
  const rows = Array.from({ length: 11 }, (_, n) => ({ ...pending(id, 200 + n), created_at: AT }))
  await write(...rows)
  const read: string[] = []
  let query = '?limit=4'
  for (let page = 0; page < 3; page++) {
    const { data, next_cursor } = (await get(apiKey, query)).body
    read.push(...data.map((one: { delivery_id: string }) => one.delivery_id))
    query = `?limit=4&cursor=${next_cursor}`
    expect(next_cursor === null).toBe(page === 2)
  }
  expect(read).toEqual(rows.map((row) => row.id).toReversed())
})

test('200: another agent’s cursor returns no delivery of that agent', async () => {
  const [one, other] = [await makeAgent(market), await makeAgent(market)]
  await write(pending(one.id, 301), pending(one.id, 302), pending(other.id, 300))
  const { next_cursor } = (await get(one.apiKey, '?limit=1')).body
  const { data } = (await get(other.apiKey, `?cursor=${next_cursor}`)).body
  expect(data.map((delivery: { delivery_id: string }) => delivery.delivery_id)).toEqual([idOf(300)])
})

test('400: an invalid status, limit or cursor', async () => {
  const { apiKey } = await makeAgent(market)
  invalid(await get(apiKey, '?status=lost'), 'status')
  invalid(await get(apiKey, '?limit=0'), 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['deliveries', 1, `${idOf(1).toUpperCase()}g`]),
    forgeCursor(['deliveries', -1, idOf(1)]),
    forgeCursor(['deliveries', 1, `${idOf(1)} `]),
  ]) {
    invalid(await get(apiKey, `?cursor=${cursor}`), 'cursor')
  }
  invalid(await get(apiKey, '?agent=agt_1'), '')
})

test('400: me without an API key', async () => {
  const { token } = await makeUser(market)
  invalid(await market.client().get(PATH, { bearer: token }), 'agent_id')
})

test('403: another user, wallet and agent, and an operator', async () => {
  const { id } = await makeOwnedAgent(market)
  const path = PATH.replace('me', id)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey])
    rejected(await market.client().get(path, { bearer }), 403, 'not_your_agent')
  const headers = asHeaders(await signed(evmSigner(), 'session'))
  rejected(await market.client().get(path, { headers }), 403, 'not_your_agent')
  rejected(await market.client().get(path, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: no such agent', async () => {
  const { token } = await makeUser(market)
  const path = PATH.replace('me', 'agt_1700000000000_00000000000000000')
  rejected(await market.client().get(path, { bearer: token }), 404, 'agent_not_found')
})
