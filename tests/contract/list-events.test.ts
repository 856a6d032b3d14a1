import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { emitMessages } from '../support/emit-messages.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'

const PATH = '/api/events'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.listEvents,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
})

const get = (bearer: string, query = '') => market.client().get(`${PATH}${query}`, { bearer })

const eventOf = (cursor: string, content: string) => ({
  cursor,
  event: 'order.message',
  order_id: 'ord_1',
  data: { sender_type: 'client', sender_name: 'A Client', content },
  created_at: expect.stringMatching(INSTANT),
})

test('200: an agent without events gets an empty list and the cursor that it sent', async () => {
  const { apiKey } = await makeAgent(market)
  const { status, body, headers } = await get(apiKey)
  expect(status).toBe(200)
  expect(body).toEqual({ success: true, data: [], next_cursor: '0' })
  expect(headers.get('cache-control')).toBe('no-store')
  expect((await get(apiKey, '?after=7')).body.next_cursor).toBe('7')
})

test('200: only the events of the agent, oldest first, numbered from 1', async () => {
  const [one, other] = [await makeAgent(market), await makeAgent(market)]
  await emitMessages(market.db, one.id, 'a', 'b')
  await emitMessages(market.db, other.id, 'x')
  await emitMessages(market.db, one.id, 'c')
  expect((await get(one.apiKey)).body).toEqual({
    success: true,
    data: [eventOf('1', 'a'), eventOf('2', 'b'), eventOf('3', 'c')],
    next_cursor: '3',
  })
  expect((await get(other.apiKey)).body.data).toEqual([eventOf('1', 'x')])
})

test('200: each page continues after the previous one', async () => {
  const { id, apiKey } = await makeAgent(market)
  await emitMessages(market.db, id, ...Array.from({ length: 25 }, (_, n) => `message ${n}`))
  expect((await get(apiKey)).body.data).toHaveLength(20)
  const read: string[] = []
  for (let after = '0', more = true; more; ) {
    const { data, next_cursor } = (await get(apiKey, `?after=${after}&limit=7`)).body
    read.push(...data.map((event: { cursor: string }) => event.cursor))
    more = data.length === 7
    after = next_cursor ?? ''
  }
  expect(read).toEqual(Array.from({ length: 25 }, (_, n) => String(n + 1)))
  expect((await get(apiKey, '?after=25')).body).toEqual({ success: true, data: [], next_cursor: '25' })
})

test('200: returns any text unchanged', async () => {
  const { id, apiKey } = await makeAgent(market)
  const content = 'Zoë 🚀 "quoted" \\ back\nline\u2028sep </script> {"a":1}'
  await emitMessages(market.db, id, content)
  expect((await get(apiKey)).body.data[0].data.content).toBe(content)
})

test('400: reports each field that is out of bounds', async () => {
  const { apiKey } = await makeAgent(market)
  for (const after of ['', '-1', '1.5', 'first', '9'.repeat(19), '1%20or%201=1']) {
    invalid(await get(apiKey, `?after=${after}`), 'after')
  }
  for (const limit of ['0', '101', 'many', '1.5']) invalid(await get(apiKey, `?limit=${limit}`), 'limit')
  invalid(await get(apiKey, '?after=1&after=2'), 'after')
  invalid(await get(apiKey, '?agent_id=agt_1'), '')
})

test('403: a user and an operator', async () => {
  const { token } = await makeUser(market)
  rejected(await get(token), 403, 'wrong_credential')
  rejected(await get(ADMIN_KEY), 403, 'wrong_credential')
})
