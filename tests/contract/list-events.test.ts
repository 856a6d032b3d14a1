import { operations } from '@market/contract/operations'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { emitMessages, emitToUser } from '../support/emit-messages.ts'
import { makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { orderAgain } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/events'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listEvents,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, `${PATH}?role=buyer`)

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
})

test('409: a cursor that no event has is told where to continue', async () => {
  const { id, apiKey } = await makeAgent(market)
  expect(await get(apiKey, '?after=7')).toMatchObject({
    status: 409,
    body: { success: false, code: 'cursor_reset', next_cursor: '0' },
  })
  await emitMessages(market.db, id, 'a', 'b')
  expect((await get(apiKey, '?after=2')).body).toEqual({ success: true, data: [], next_cursor: '2' })
  expect(await get(apiKey, '?after=3')).toMatchObject({
    status: 409,
    body: { code: 'cursor_reset', next_cursor: '2' },
  })
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
  invalid(await get(apiKey, '?agent=agt_1'), '')
  invalid(await get(apiKey, '?agent_id=svc_1'), 'agent_id')
})

test('400: a user and a wallet without role=buyer', async () => {
  const { token } = await makeUser(market)
  const headers = await signOnce(market, evmSigner(), 'session')
  for (const query of ['', '?role=seller']) {
    rejected(await get(token, query), 400, 'role_required')
    rejected(await market.client().get(`${PATH}${query}`, { headers }), 400, 'role_required')
  }
  for (const role of ['', 'owner', 'Buyer']) invalid(await get(token, `?role=${role}`), 'role')
})

test('200: the owner of an agent reads its events, by user or wallet', async () => {
  const owner = evmSigner()
  const { id, apiKey } = await makeOwnedAgent(market, {}, owner)
  await emitMessages(market.db, id, 'for the owner too')
  const own = await get(apiKey)
  expect(own.body.data).toHaveLength(1)
  const { token } = await makeUser(market, { wallets: [owner.address] })
  const headers = await signOnce(market, owner, 'session')
  for (const ask of [{ bearer: token }, { headers }, { bearer: apiKey }])
    expect((await market.client().get(`${PATH}?agent_id=${id}`, ask)).body).toEqual(own.body)
})

test('403: the events of an agent of another owner', async () => {
  const { id } = await makeOwnedAgent(market)
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get(bearer, `?agent_id=${id}`), 403, 'not_your_agent')
})

test('404: the events of no agent', async () => {
  const { token } = await makeUser(market)
  rejected(await get(token, '?agent_id=agt_1700000000000_00000000000000000'), 404, 'agent_not_found')
})

test('403: an operator', async () => {
  rejected(await get(ADMIN_KEY), 403, 'wrong_credential')
  rejected(await get(ADMIN_KEY, '?role=buyer'), 403, 'wrong_credential')
})

const acceptedOf = (cursor: string, order_id: string) => ({
  cursor,
  event: 'order.accepted',
  order_id,
  data: { price_usd: '12.50' },
  created_at: expect.stringMatching(INSTANT),
})

test('200: role=buyer returns the events of the own orders to a user, a wallet and an agent, and to nobody else', async () => {
  const service = await makeService(market, await makeOwnedAgent(market))
  const [wallet, other, owner] = [evmSigner(), evmSigner(), evmSigner()]
  const agent = await makeOwnedAgent(market, {}, owner)
  const user = await makeUser(market, { wallets: [wallet.address] })
  const asWallet = async (signer: EvmSigner, purpose = 'session') => ({
    headers: await signOnce(market, signer, purpose),
  })
  const buy = async (ask: (purpose?: string) => Promise<RequestOptions>) => {
    const id = await orderAgain(market, service.id, await ask(`orders.create:${service.id}`))
    const accept = await ask(`orders.accept:${id}`)
    const reply = await market
      .client()
      .send('PATCH', `/api/orders/${id}`, { ...accept, body: { action: 'accept' } })
    expect(reply.status).toBe(200)
    return id
  }
  const callers = [
    async () => ({ bearer: user.token }),
    (purpose?: string) => asWallet(wallet, purpose),
    async () => ({ bearer: agent.apiKey }),
  ]
  for (const ask of callers) {
    const id = await buy(ask)
    const { status, body } = await market.client().get(`${PATH}?role=buyer`, await ask())
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, data: [acceptedOf('1', id)], next_cursor: '1' })
  }
  const others = [
    { bearer: (await makeUser(market)).token },
    { bearer: (await makeAgent(market)).apiKey },
    await asWallet(other),
    await asWallet(owner),
  ]
  for (const ask of others)
    expect((await market.client().get(`${PATH}?role=buyer`, ask)).body.data).toEqual([])
  expect((await get(agent.apiKey)).body.data).toEqual([])
  expect((await get(agent.apiKey, '?role=seller')).body.data).toEqual([])
})

test('200: each page of a buyer continues after the previous one', async () => {
  const { sub, token } = await makeUser(market)
  await emitToUser(market.db, sub, ...Array.from({ length: 25 }, (_, n) => `ord_${n}`))
  const read: string[] = []
  for (let after = '0', more = true; more; ) {
    const { data, next_cursor } = (await get(token, `?role=buyer&after=${after}&limit=7`)).body
    read.push(...data.map((event: { order_id: string }) => event.order_id))
    more = data.length === 7
    after = next_cursor ?? ''
  }
  expect(read).toEqual(Array.from({ length: 25 }, (_, n) => `ord_${n}`))
})
