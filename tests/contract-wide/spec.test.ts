import { type Operation, routesOf } from '@market/contract/define'
import { LIMITS as BY_NAME } from '@market/contract/limits'
import { operationList } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OrderWorld, type Parties, startOrderWorld } from '../orders/order-world.ts'
import { asHeaders, DESCRIPTION, makeUser, signed, someName } from '../support/makers.ts'
import { PUBLIC_ADDRESS } from '../support/settings.ts'
import { USER_TIME } from '../support/shapes.ts'
import {
  ACTIONS,
  CATEGORIES,
  DELIVERABLE_TYPES,
  EVENTS,
  expectFields,
  FIELDS,
  LIMITS,
  MESSAGING,
  STATES,
  type State,
  UNSHOWN,
} from './spec-tables.ts'

/** Drives the API with the field lists, statuses and states of the specification. */

const HOST = 'agent.example'

let world: OrderWorld
let parties: Parties
beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties({ max_revisions: 1 })
  world.market.dns.answers.set(HOST, [PUBLIC_ADDRESS])
})
afterAll(() => world.stop())

const client = () => world.market.client()

describe('identity and agents', () => {
  test('POST /api/auth/user: the token as header, cookie and body field; the user’s fields', async () => {
    const token = await world.market.idp.token({ sub: 'user-of-the-spec', email: 'a@example.com' })
    const first = await client().post('/api/auth/user', undefined, { bearer: token })
    expect(first.status).toBe(200)
    expectFields(first.body.data, FIELDS.signIn)
    expectFields(first.body.data.user, FIELDS.user)
    expect(first.body.data.user.created_at).toMatch(USER_TIME)
    expect(first.body.data.is_new).toBe(true)
    const byBody = await client().post('/api/auth/user', { idp_access_token: token })
    const byCookie = await client().post('/api/auth/user', undefined, {
      headers: { cookie: `idp-token=${token}`, 'sec-fetch-site': 'same-origin' },
    })
    expect([byBody, byCookie].map(({ status, body }) => [status, body.data.is_new])).toEqual([
      [200, false],
      [200, false],
    ])
  })

  test('POST /api/agents/register: every field, signed; the key is recovered unchanged and masked on reads', async () => {
    const owner = await solanaSigner()
    const name = someName()
    const { status, body } = await client().post('/api/agents/register', {
      name,
      description: DESCRIPTION,
      capabilities: CATEGORIES,
      endpoint_url: `https://${HOST}/in`,
      avatar_url: `https://${HOST}/a.png`,
      ai_models: ['a-model'],
      owner_wallet: owner.address,
      ...(await signed(owner, `agents.register:${name}`, world.market.wallTime())),
      pay_to_register: false,
    })
    expect(status).toBe(201)
    expectFields(body.data, FIELDS.registered)
    const { api_key, webhook_secret, marketable, protocol_spec } = body.data
    expect(marketable).toBe(true)
    expectFields(protocol_spec, ['required_endpoints'])
    const proof = await signed(owner, 'agents.recover', world.market.wallTime())
    const recovered = await client().post('/api/agents/recover', proof)
    expect(JSON.stringify(recovered.body)).toContain(api_key)
    const me = await client().get('/api/agents/me', { bearer: api_key })
    expectFields(me.body.data, FIELDS.agent)
    expect(me.body.data).toMatchObject({ webhook_secret, verified: expect.any(Number), total_orders: 0 })
    expect(me.body.data.api_key).not.toBe(api_key)
    expect(me.body.data.api_key.endsWith(api_key.slice(-4))).toBe(true)
  })

  test('a bare registration is not marketable; the same name is 409 with a summary and a hint; payment is 402', async () => {
    const bare = { name: someName(), description: DESCRIPTION }
    const made = await client().post('/api/agents/register', bare)
    expect([made.status, made.body.data.marketable]).toEqual([201, false])
    const again = await client().post('/api/agents/register', bare)
    expect([again.status, again.body.error]).toEqual([409, 'duplicate_agent'])
    expectFields(again.body, ['message', 'existing_agent', 'recovery'])
    const other = { ...bare, name: someName() }
    for (const asked of [
      client().post('/api/agents/register?pay=x402', other),
      client().post('/api/agents/register', { ...other, pay_to_register: true }),
    ]) {
      const { status, body } = await asked
      expect(status).toBe(402)
      expectFields(body, ['x402Version', 'accepts'])
    }
  })

  test('GET /api/agents accepts a wallet signature as query parameters', async () => {
    const proof = await signed(evmSigner(), 'session', world.market.wallTime())
    const query = new URLSearchParams({ ...proof, wallet_sig_ts: String(proof.wallet_sig_ts) })
    expect((await client().get(`/api/agents?${query}`)).status).toBe(200)
  })

  test.each([
    'http://agent.example/in',
    'https://localhost/in',
    'https://10.0.0.1/in',
    'https://169.254.169.254/in',
  ])('PATCH /api/agents/me: %s is 400', async (endpoint_url) => {
    const { status } = await client().patch(
      '/api/agents/me',
      { endpoint_url },
      { bearer: parties.seller.apiKey },
    )
    expect(status).toBe(400)
  })

  test.each([
    [{ description: undefined }, '10-500'],
    [{ description: 7 }, 'must be a string'],
    [{ name: 'ab' }, '3-40'],
    [{ name: 'a/b/c' }, 'name'],
    [{ capabilities: ['cooking'] }, 'capabilities'],
  ])('POST /api/agents/register: 400 for %o names what is wrong', async (wrong, words) => {
    const body = { name: someName(), description: DESCRIPTION, ...wrong }
    const reply = await client().post('/api/agents/register', body)
    expect([reply.status, reply.body.success]).toEqual([400, false])
    expect(reply.body.error).toContain(words)
  })
})

describe('orders', () => {
  const orders = {} as Record<State, string>
  const action = (name: keyof typeof ACTIONS, id: string, fields = {}) =>
    world.act(parties.buyer, id, name, fields)
  const WORDS = {
    pay: {},
    approve: {},
    cancel: {},
    revision: { feedback: 'More blue' },
    dispute: { reason: 'Not blue' },
  }

  test.each(STATES)('an order can be %s, and shows the specification’s fields', async (state) => {
    orders[state] = await world.walk(parties, state)
    const { proof } = parties.buyer
    const headers = asHeaders(await proof('session'))
    const { status, body } = await client().get(`/api/orders/${orders[state]}`, { headers })
    const { order } = body.data
    expect([status, order.status]).toEqual([200, state])
    expectFields(body.data, ['order', 'deliverables', 'review'])
    expectFields(order, FIELDS.order)
    expect(order.order_id).toMatch(/^ord_\d+_\w+$/)
  })

  test.each(STATES)('while %s: messages by rule 1', async (state) => {
    const path = `/api/orders/${orders[state]}/messages`
    const proof = await parties.buyer.proof(`orders.message:${orders[state]}`)
    const { status } = await client().post(path, { content: 'How is it going?', ...proof })
    expect(status).toBe(MESSAGING.includes(state) ? 201 : 400)
  })

  const illegal = Object.entries(ACTIONS).flatMap(([name, [from]]) =>
    STATES.filter((state) => !from.includes(state) && !UNSHOWN.includes(state)).map(
      (state) => [name as keyof typeof ACTIONS, state] as const,
    ),
  )
  test.each(illegal)('%s while %s is 400, and the order stays (asvs V2.3)', async (name, state) => {
    const fields = name === 'pay' ? { escrow_tx_hash: `0x${'a'.repeat(64)}` } : WORDS[name]
    const { status } = await action(name, orders[state], fields)
    expect(status).toBe(400)
    const row = world.market.db.selectFrom('orders').select('status').where('id', '=', orders[state])
    expect(await row.executeTakeFirstOrThrow()).toEqual({ status: state })
  })

  const legal = Object.entries(ACTIONS).flatMap(([name, [from, to]]) =>
    from.map((state) => [name as keyof typeof ACTIONS, state, to] as const),
  )
  test.each(legal)('%s while %s leads to %s', async (name, state, to) => {
    const id = await world.walk(parties, state)
    const paid = name === 'pay' && { escrow_tx_hash: await world.settled(parties.buyer) }
    const { status, body } = await action(name, id, { ...WORDS[name], ...paid })
    expect([status, body.data.status]).toEqual([200, to])
    if (paid) expect(body.data.escrow_tx_hash).toBe(paid.escrow_tx_hash)
  })

  test('POST /api/orders/{id}/quote: at most 1,000,000 USD, by the provider’s agent', async () => {
    const id = await world.walk(parties, 'pending_quote')
    expect((await world.quote(parties.seller.apiKey, id, { price_usd: '1000000.01' })).status).toBe(400)
    const { status, body } = await world.quote(parties.seller.apiKey, id, { price_usd: '1000000.00' })
    expect([status, body.data.status]).toEqual([200, 'quoted'])
  })

  test('POST /api/orders/{id}/deliver: one deliverable or an array of every type, from paid and in_progress', async () => {
    const one = await world.walk(parties, 'paid')
    const single = { deliverable_url: `https://${HOST}/x.png` }
    expect((await world.deliver(parties.seller.apiKey, one, single)).body.data.status).toBe('delivered')
    const many = await world.walk(parties, 'in_progress')
    const deliverables = DELIVERABLE_TYPES.map((type) => ({ type, url: `https://${HOST}/${type}` }))
    const { status, body } = await world.deliver(parties.seller.apiKey, many, { deliverables })
    expect([status, body.data.status]).toEqual([200, 'delivered'])
    const read = await client().get(`/api/orders/${many}`, { bearer: parties.seller.apiKey })
    const types = read.body.data.deliverables.map(({ type }: { type: string }) => type)
    expect(types).toEqual(DELIVERABLE_TYPES)
  })

  test('a review has 1 to 5 stars, and is 409 a second time', async () => {
    const send = async (rating: number) =>
      client().post(`/api/orders/${orders.completed}/review`, {
        rating,
        ...(await parties.buyer.proof(`orders.review:${orders.completed}`)),
      })
    expect([
      (await send(0)).status,
      (await send(6)).status,
      (await send(5)).status,
      (await send(5)).status,
    ]).toEqual([400, 400, 201, 409])
  })

  test('GET /api/agents/{id}/orders filters by a comma-separated list of states', async () => {
    const path = `/api/agents/${parties.seller.id}/orders?status=completed,disputed`
    const { status, body } = await client().get(path, { bearer: parties.seller.apiKey })
    expect(status).toBe(200)
    const seen = new Set(body.data.map((order: { status: string }) => order.status))
    expect(seen).toEqual(new Set(['completed', 'disputed']))
  })

  test('events: each of the catalogue with its data, and none for quote and delivery', async () => {
    const seen = new Map<string, object>()
    let path = '/api/events?limit=100'
    for (;;) {
      const { body } = await client().get(path, { bearer: parties.seller.apiKey })
      for (const { event, data } of body.data) seen.set(event, data)
      if (body.data.length === 0) break
      path = `/api/events?limit=100&after=${body.next_cursor}`
    }
    expect([...seen.keys()].sort()).toEqual(Object.keys(EVENTS).sort())
    for (const [event, fields] of Object.entries(EVENTS))
      expectFields(
        seen.get(event) ?? {},
        fields.filter((field) => !field.endsWith('?')),
      )
  })

  test('statuses: 401 without a credential, 403 for an order of others’ to act on, 404 for one that does not exist', async () => {
    const path = `/api/orders/${orders.delivered}`
    expect((await client().get(path)).status).toBe(401)
    expect((await world.byKey(parties.seller.apiKey, orders.delivered, 'approve')).status).toBe(403)
    const { token } = await makeUser(world.market)
    expect((await client().get('/api/orders/ord_1700000000000_zzzzzz', { bearer: token })).status).toBe(404)
  })
})

const routes = operationList.flatMap(routesOf)
const isListed = ({ method, path }: Operation) => LIMITS.some(([m, p]) => m === method && p === path)

test.each(LIMITS)('limits: %s %s allows %i requests in %i seconds', (method, path, max, windowSeconds) => {
  const found = routes.find((route) => route.method === method && route.path === path)
  expect(found && BY_NAME[found.limit]).toMatchObject({ max, windowSeconds })
})

test('limits: no route that the specification does not list uses up a limit that it lists', () => {
  const listed = new Set(routes.filter(isListed).map(({ limit }) => limit))
  expect(listed.size).toBeGreaterThan(15)
  const others = routes.filter((route) => !isListed(route) && listed.has(route.limit))
  expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

test('limits: routes share a counter only where the specification joins them in one row', () => {
  const joined = [['/api/agents/{agent_id}/token', '/api/agents/{agent_id}/token/launch'], DISCOVERY]
  for (const [limit, together] of Map.groupBy(routes.filter(isListed), (route) => route.limit))
    if (together.length > 1) expect(joined, limit).toContainEqual(together.map(({ path }) => path).sort())
})

const DISCOVERY = ['/api/x402/discover', '/api/x402/discover/{service_id}']
