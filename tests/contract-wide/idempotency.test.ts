import { randomUUID } from 'node:crypto'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { DESCRIPTION, makeAgent, makeUser, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const REPLAYED = 'idempotent-replayed'

const register = (ask: { name?: unknown; description?: string; key: string; from: string }) =>
  market
    .client()
    .post(
      '/api/agents/register',
      { name: ask.name, description: ask.description ?? DESCRIPTION },
      { key: ask.key, from: ask.from },
    )

const countNamed = async (name: string) =>
  (await market.db.selectFrom('agents').select('id').where('name', '=', name).execute()).length

test('idempotency: 20 identical concurrent writes with one key execute once and return the same response (asvs V2.5)', async () => {
  const { token } = await makeUser(market)
  const ask = { bearer: token, key: randomUUID() }
  const body = { name: someName(), description: DESCRIPTION }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => market.client().post('/api/agents/register', body, ask)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get(REPLAYED) === 'true')).toHaveLength(19)
  expect(await countNamed(body.name)).toBe(1)
})

test('idempotency: returns 409 while another process still executes the request', async () => {
  const ask = { key: randomUUID(), from: someAddress(), name: someName() }
  expect((await register(ask)).status).toBe(201)
  const running = { state: 'running', status: null, response_sealed: null }
  const lease = { leased_until: new Date(market.now() + 20_000) }
  await market.db
    .updateTable('requests')
    .set({ ...running, ...lease })
    .where('key', '=', ask.key)
    .execute()
  const reply = await register(ask)
  rejected(reply, 409, 'request_in_progress')
  expect(reply.headers.get('retry-after')).toBe('1')
})

test('idempotency: the order of the fields does not matter', async () => {
  const ask = { key: randomUUID(), from: someAddress() }
  const name = someName()
  const first = await market.client().post('/api/agents/register', { name, description: DESCRIPTION }, ask)
  const again = await market.client().post('/api/agents/register', { description: DESCRIPTION, name }, ask)
  expect(again.status).toBe(201)
  expect(again.body).toEqual(first.body)
})

test('idempotency: returns 422 when a key is used with another body or route, and changes nothing', async () => {
  const ask = { key: randomUUID(), from: someAddress() }
  const name = someName()
  expect((await register({ ...ask, name })).status).toBe(201)
  const otherBody = await register({ ...ask, name, description: `${DESCRIPTION} And slowly.` })
  expect(otherBody.status).toBe(422)
  expect(otherBody.body.code).toBe('idempotency_key_reused')

  const agent = await makeAgent(market)
  const keyed = { bearer: agent.apiKey, key: randomUUID() }
  const change = { description: 'Changed once, by the first of two requests.' }
  expect((await market.client().patch('/api/agents/me', change, keyed)).status).toBe(200)
  const otherRoute = await market.client().patch(`/api/agents/${agent.id}`, change, keyed)
  expect(otherRoute.status).toBe(422)
})

test('idempotency: two callers can use the same key independently', async () => {
  const key = 'daily'
  const [one, two] = [await makeAgent(market), await makeAgent(market)]
  const change = { description: 'The same words for two agents.' }
  for (const { apiKey, id } of [one, two]) {
    const { status, body, headers } = await market
      .client()
      .patch('/api/agents/me', change, { bearer: apiKey, key })
    expect([status, body.data.id, headers.get(REPLAYED)]).toEqual([200, id, null])
  }
})

test('idempotency: an anonymous caller gets the response again from another address', async () => {
  const ask = { key: randomUUID(), name: someName() }
  const first = await register({ ...ask, from: '198.51.100.1' })
  const again = await register({ ...ask, from: '198.51.100.2' })
  expect([first.status, again.status, again.headers.get(REPLAYED)]).toEqual([201, 201, 'true'])
  expect(again.body).toEqual(first.body)
})

test('400: a key of 31 characters from an anonymous caller, because it could be guessed', async () => {
  const name = someName()
  const short = await register({ key: 'k'.repeat(31), from: someAddress(), name })
  rejected(short, 400, 'bad_idempotency_key')
  expect(short.body.error).toBe(
    'Idempotency-Key has 31 characters, but without credentials at least 32 are required. Send a random one, such as a UUID.',
  )
  expect(await countNamed(name)).toBe(0)
  expect((await register({ key: randomUUID().slice(0, 32), from: someAddress(), name })).status).toBe(201)
})

test('idempotency: replays a stored 409 with the same body', async () => {
  const { name } = await makeAgent(market)
  const ask = { key: randomUUID(), from: someAddress(), name }
  const first = await register(ask)
  const again = await register(ask)
  expect([first.status, again.status]).toEqual([409, 409])
  expect(first.headers.get(REPLAYED)).toBeNull()
  expect(again.headers.get(REPLAYED)).toBe('true')
  expect(again.body).toEqual(first.body)
})

test('idempotency: does not store a 400, so the corrected request can use the key', async () => {
  const ask = { key: randomUUID(), from: someAddress() }
  expect((await register({ ...ask, name: 7 })).status).toBe(400)
  const corrected = await register({ ...ask, name: someName() })
  expect(corrected.status).toBe(201)
  expect(corrected.headers.get(REPLAYED)).toBeNull()
})

test('idempotency: does not store a 400 of the command either', async () => {
  const ask = { key: randomUUID(), from: someAddress() }
  const lookAlike = `Agеnt ${someName()}`
  expect((await register({ ...ask, name: lookAlike })).status).toBe(400)
  expect((await register({ ...ask, name: someName() })).status).toBe(201)
})

test('idempotency: reads ignore the key, even an invalid one', async () => {
  const agent = await makeAgent(market)
  for (const key of [randomUUID(), 'x'.repeat(300)]) {
    for (let round = 0; round < 2; round++) {
      const reply = await market.client().get('/api/agents/me', { bearer: agent.apiKey, key })
      expect([reply.status, reply.headers.get(REPLAYED)]).toEqual([200, null])
    }
  }
})

test.each([
  ['empty', ''],
  ['129 characters', 'k'.repeat(129)],
  ['not ASCII', 'clé'],
])('400: a key that is %s is rejected before anything happens', async (_, key) => {
  const name = someName()
  const reply = await register({ key, from: someAddress(), name })
  expect([reply.status, reply.body.code]).toEqual([400, 'bad_idempotency_key'])
  expect(await countNamed(name)).toBe(0)
})

test('idempotency: a key can be reused after 24 hours', async () => {
  const ask = { key: randomUUID(), from: someAddress() }
  const first = await register({ ...ask, name: someName() })
  await market.advance(24 * HOUR - 60_000)
  const name = someName()
  expect((await register({ ...ask, name })).status).toBe(422)
  await market.advance(61_000)
  const later = await register({ ...ask, name })
  expect([later.status, later.headers.get(REPLAYED)]).toEqual([201, null])
  expect(later.body.data.agent_id).not.toBe(first.body.data.agent_id)
})
