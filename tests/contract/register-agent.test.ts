import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startOrderWorld } from '../orders/order-world.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { DESCRIPTION, makeAgent, makeOwnedAgent, makeUser, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { AGENT_ID, API_KEY, PROTOCOL_SPEC, WEBHOOK_SECRET } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/agents/register'
const HOUR = 3_600_000

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const fields = (more: Record<string, unknown> = {}) => ({
  name: someName(),
  description: DESCRIPTION,
  ...more,
})
const register = (body: unknown, ask?: RequestOptions) => market.client().post(PATH, body, ask)
const isPublic = async (id: string) =>
  (await market.client().get(`/api/agents/${id}`)).body.data.agent.marketable === true

const subject: Subject = {
  market: () => market,
  operation: operations.registerAgent,
  good: async () => ({ path: PATH, body: fields() }),
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: fields() }) })
rejectsWithoutProvider(subject, PATH, fields())

const registered = (more: Record<string, unknown> = {}) => ({
  agent_id: expect.stringMatching(AGENT_ID),
  slug: expect.stringMatching(/^agent-[0-9a-f]{12}$/),
  api_key: expect.stringMatching(API_KEY),
  webhook_secret: null,
  twitter_username: null,
  marketable: true,
  protocol_spec: PROTOCOL_SPEC,
  wallet: {
    solana_address: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    note: expect.any(String),
  },
  ...more,
})

test('201: without an owner the agent is hidden, and the response names how to link one', async () => {
  const { status, body, headers } = await register(fields())
  expect(status).toBe(201)
  expect(body).toEqual({
    success: true,
    data: registered({ marketable: false, note: expect.stringContaining('/api/agents/link') }),
  })
  expect(headers.get('x-ratelimit-limit')).toBe('5')
  expect(headers.get('x-ratelimit-remaining')).toBe('4')
  expect(await isPublic(body.data.agent_id)).toBe(false)
})

test('201: with a wallet signature of either chain the agent has that owner and is public', async () => {
  for (const owner of [evmSigner(), await solanaSigner()]) {
    for (const named of [{}, { owner_wallet: owner.address }]) {
      const body = fields(named)
      const proof = await signed(owner, `agents.register:${body.name}`, market.now())
      const reply = await register({ ...body, ...proof })
      expect(reply.status).toBe(201)
      expect(reply.body.data).toEqual(registered())
      const page = await market.client().get(`/api/agents/${reply.body.data.agent_id}`)
      expect(page.body.data.agent).toMatchObject({ owner_wallet: owner.address, verified: 1 })
    }
  }
})

test('201: with an access token in the header, the body or the cookie, and the user’s X handle', async () => {
  const token = await market.idp.token({ sub: 'with-handle', twitter_username: '@writes_code' })
  const cookie = { cookie: `idp-token=${token}`, 'sec-fetch-site': 'same-origin' }
  for (const reply of [
    await register(fields(), { bearer: token }),
    await register(fields({ idp_access_token: token })),
    await register(fields(), { headers: cookie }),
  ]) {
    expect(reply.status).toBe(201)
    expect(reply.body.data).toEqual(registered({ twitter_username: 'writes_code' }))
    expect(await isPublic(reply.body.data.agent_id)).toBe(true)
  }
})

test('201: an owner_wallet without a signature attaches no owner', async () => {
  const owner = evmSigner().address
  for (const named of [{ owner_wallet: owner }, { owner_wallet: owner, wallet: owner }]) {
    const { status, body } = await register(fields(named))
    expect(status).toBe(201)
    expect(body.data.marketable).toBe(false)
    const me = await market.client().get('/api/agents/me', { bearer: body.data.api_key })
    expect(me.body.data.owner_wallet).toBeNull()
  }
})

test('201: creates the webhook secret when an endpoint is given', async () => {
  const { body } = await register(fields({ endpoint_url: 'https://hooks.example/in' }))
  expect(body.data.webhook_secret).toMatch(WEBHOOK_SECRET)
})

test('400: reports every field that is out of bounds at once', async () => {
  invalid(await register({}), 'name', 'description')
  const short = await register({ name: 'ab', description: 'too short' })
  invalid(short, 'name', 'description')
  expect(short.body.details?.[1]?.message).toBe('must be 10-500 characters')
  for (const name of ['x'.repeat(41), 'no/slash', ' space', 'two\nlines', '...', 'zero\u200bwidth', 7]) {
    expect((await register(fields({ name }))).body.details?.[0]?.path).toBe('name')
  }
  invalid(await register(fields({ description: 'x'.repeat(501) })), 'description')
  invalid(await register(fields({ capabilities: ['coding', 'dancing'] })), 'capabilities.1')
  invalid(await register(fields({ ai_models: Array(11).fill('m') })), 'ai_models')
  invalid(await register(fields({ ai_models: ['x'.repeat(31)] })), 'ai_models.0')
  invalid(await register(fields({ avatar_url: 'http://other.example/a.png' })), 'avatar_url')
  invalid(await register(fields({ owner_wallet: 'nobody' })), 'owner_wallet')
})

test.each([
  ['two alphabets', 'Аgent Latin', 'name_not_allowed'],
  ['Cherokee letters', 'ᎪᏟᎷᎬ', 'name_not_allowed'],
  ['Lisu letters', 'ꓮꓚꓟꓰ', 'name_not_allowed'],
  ['small capitals', 'ᴀᴄᴍᴇ ʟᴀʙꜱ', 'name_not_allowed'],
  ['one small capital', 'ɢoogle', 'name_not_allowed'],
  ['a small capital in a reserved word', 'ᴀdmin', 'name_not_allowed'],
  ['a reserved word', 'Admin', 'name_reserved'],
  ['the name of the marketplace', 'Agent Market Support', 'name_reserved'],
])('400: a name with %s', async (_why, name, code) => {
  const details = [{ path: 'name', message: expect.stringMatching(/\S/) }]
  rejected(await register(fields({ name })), 400, code, { details })
  const paid = await market.client().post(PATH, { ...fields({ name }), pay_to_register: true })
  rejected(paid, 400, code, { details })
})

test('400: an endpoint that is not public HTTPS, by its form or by what its name resolves to', async () => {
  invalid(await register(fields({ endpoint_url: 'http://hooks.example/in' })), 'endpoint_url')
  for (const host of ['localhost', '10.0.0.1', '169.254.169.254', '[::1]']) {
    const reply = await register(fields({ endpoint_url: `https://${host}/in` }))
    rejected(reply, 400, 'endpoint_not_public')
  }
  rejected(await register(fields({ endpoint_url: 'https://unknown.example/' })), 400, 'endpoint_not_resolved')
})

test('201: an access token with a signature of a linked owner_wallet stores the wallet', async () => {
  const owner = evmSigner()
  const { token } = await makeUser(market, { wallets: [owner.address] })
  const body = fields({ owner_wallet: owner.address })
  const proof = await signed(owner, `agents.register:${body.name}`, market.now())
  const { status, body: made } = await register({ ...body, ...proof }, { bearer: token })
  expect(status).toBe(201)
  const me = await market.client().get('/api/agents/me', { bearer: made.data.api_key })
  expect(me.body.data).toMatchObject({ owner_wallet: owner.address, marketable: true })
})

test('401: an access token with an owner_wallet that did not sign, or signed another text', async () => {
  const owner = await solanaSigner()
  const { token } = await makeUser(market, { wallets: [owner.address] })
  const body = fields({ owner_wallet: owner.address })
  rejected(await register(body, { bearer: token }), 401, 'signature_missing')
  const proof = await signed(owner, 'agents.register:Another', market.now())
  rejected(await register({ ...body, ...proof }, { bearer: token }), 401, 'bad_signature')
})

test('400: an access token with the signature of a wallet that is not linked', async () => {
  const { token } = await makeUser(market)
  const owner = evmSigner()
  const body = fields({ owner_wallet: owner.address })
  const proof = await signed(owner, `agents.register:${body.name}`, market.now())
  rejected(await register({ ...body, ...proof }, { bearer: token }), 400, 'two_credentials')
})

test('400: an owner_wallet other than the wallet that signs', async () => {
  const body = fields({ owner_wallet: evmSigner().address })
  const proof = await signed(evmSigner(), `agents.register:${body.name}`, market.now())
  invalid(await register({ ...body, ...proof }), 'owner_wallet')
})

test('401: a signature that is expired, from the future, for another name, or of another wallet', async () => {
  const body = fields()
  const proofs = await badSignatures(await solanaSigner(), `agents.register:${body.name}`, market.now())
  for (const [code, proof] of proofs) rejected(await register({ ...body, ...proof }), 401, code)
  rejected(await register(body, { bearer: 'not.a.token' }), 401, 'bad_token')
  expect((await register(body)).status).toBe(201)
})

test('403: a cookie from a page of another site', async () => {
  const headers = {
    cookie: `idp-token=${await market.idp.token({ sub: 'x' })}`,
    'sec-fetch-site': 'cross-site',
  }
  rejected(await register(fields(), { headers }), 403, 'cross_site')
})

test('409: duplicate_agent within an hour, with the message of the contract and a masked key', async () => {
  const held = await makeAgent(market)
  for (const name of [held.name, held.name.toUpperCase(), held.name.replace(' ', '  '), `${held.name}.`]) {
    const reply = await register(fields({ name }))
    rejected(reply, 409, 'duplicate_agent', {
      error: 'duplicate_agent',
      message: expect.stringMatching(/\S/),
      existing_agent: {
        agent_id: held.id,
        name: held.name,
        slug: held.slug,
        api_key_hint: `market_…${held.apiKey.slice(-4)}`,
      },
      recovery: expect.stringContaining('/api/agents/recover'),
    })
  }
})

test('409: name_taken after an hour; duplicate_agent to the same owner for a day', async () => {
  const held = await makeOwnedAgent(market)
  const { token } = await makeUser(market)
  const byOwner = async () => {
    const proof = await signed(held.owner, `agents.register:${held.name}`)
    return register(fields({ name: held.name, ...proof }))
  }
  await market.advance(HOUR + 1_000)
  rejected(await register(fields({ name: held.name })), 409, 'name_taken')
  rejected(await register(fields({ name: held.name }), { bearer: token }), 409, 'name_taken')
  expect((await byOwner()).body.error).toBe('duplicate_agent')
  await market.advance(23 * HOUR)
  rejected(await byOwner(), 409, 'name_taken')
})

test('409: a name that looks like another one in Greek or Cyrillic capitals', async () => {
  expect((await register(fields({ name: 'ACME' }))).status).toBe(201)
  for (const name of ['АСМЕ', 'асме', 'Acrne', 'A C M E'])
    expect((await register(fields({ name }))).body.code).toBe('duplicate_agent')
  expect((await register(fields({ name: 'Hen' }))).status).toBe(201)
  expect((await register(fields({ name: 'ΗΕΝ' }))).body.code).toBe('duplicate_agent')
})

test('201: the name of an agent without an owner that made no call for a day; it keeps its key', async () => {
  const [unused, used] = [await makeAgent(market), await makeAgent(market)]
  const owned = await makeOwnedAgent(market)
  const me = async (apiKey: string) =>
    (await market.client().get('/api/agents/me', { bearer: apiKey })).body.data
  await market.advance(23 * HOUR)
  expect((await me(used.apiKey)).name).toBe(used.name)
  await market.advance(2 * HOUR)
  rejected(await register(fields({ name: used.name })), 409, 'name_taken')
  rejected(await register(fields({ name: owned.name })), 409, 'name_taken')
  const taken = await register(fields({ name: unused.name }))
  expect(taken.status).toBe(201)
  expect(taken.body.data.slug).toBe(`${unused.slug}-2`)
  expect(await me(unused.apiKey)).toMatchObject({
    name: `${unused.name} ${unused.id.slice(-8)}`,
    slug: unused.slug,
  })
  expect((await me(taken.body.data.api_key)).name).toBe(unused.name)
})

test('402: the payment requirements when the request asks for them; 400 while no network is open', async () => {
  const wanted = { name: someName(), description: DESCRIPTION, pay_to_register: true }
  rejected(await market.client().post(PATH, wanted), 400, 'not_payable')
  const world = await startOrderWorld()
  onTestFinished(() => world.stop())
  const reply = await world.market.client().post(PATH, wanted)
  expect(reply.status).toBe(402)
  expect(reply.body).toMatchObject({ x402Version: 1, accepts: [{ maxAmountRequired: '1000000' }] })
})
