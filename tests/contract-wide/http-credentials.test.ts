import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asHeaders, DESCRIPTION, makeAgent, makeUser, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { APP_URL, BASE_URL } from '../support/settings.ts'

let market: Market
let person: Awaited<ReturnType<typeof makeUser>>
beforeAll(async () => {
  market = await startMarket()
  person = await makeUser(market)
})
afterAll(() => market.stop())

const cookie = () => ({ cookie: `theme=dark; idp-token=${person.token}` })
const put = (headers: Record<string, string>, body: unknown = { bio: 'From a page' }) =>
  market.client().put('/api/profile', body, { headers: { ...cookie(), ...headers } })

describe('access token in a cookie', () => {
  test.each([
    ['from our app', { origin: APP_URL }],
    ['from our own address', { origin: BASE_URL }],
    ['where the browser says same-origin', { 'sec-fetch-site': 'same-origin' }],
    ['where the browser says same-site, from our app', { origin: APP_URL, 'sec-fetch-site': 'same-site' }],
  ])('is accepted %s', async (_name, headers) => {
    expect((await put(headers)).status).toBe(200)
  })

  test.each([
    ['from another site', { origin: 'https://evil.example' }],
    ['from nowhere in particular', { origin: 'null' }],
    ['without a word about where it comes from', {}],
    ['from a page of a sibling origin that sends no Origin', { 'sec-fetch-site': 'same-site' }],
    ['where the browser says cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['where nobody says who began', { 'sec-fetch-site': 'none' }],
    ['from a name that only begins like ours', { origin: `${APP_URL}.evil.example` }],
    ['from our name without TLS', { origin: APP_URL.replace('https', 'http') }],
    [
      'from another site that claims same-site',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-site' },
    ],
    ['from our app, where the browser says cross-site', { origin: APP_URL, 'sec-fetch-site': 'cross-site' }],
  ])('is rejected %s (asvs V3.3)', async (_name, headers) => {
    const reply = await put(headers)
    expect([reply.status, reply.body.code]).toEqual([403, 'cross_site'])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'is rejected with a form body (%s), even from our app (asvs V4.1)',
    async (type) => {
      const reply = await put({ origin: APP_URL, 'content-type': type }, '{"bio":"From a form"}')
      expect(reply.status).toBe(415)
      expect(reply.body).toMatchObject({ success: false, request_id: reply.headers.get('x-request-id') })
    },
  )

  test('is ignored by operations that users cannot call, also from another site', async () => {
    const headers = { ...cookie(), 'sec-fetch-site': 'cross-site' }
    for (const path of ['/api/models', '/api/agents', '/api/agents/featured']) {
      expect((await market.client().get(path, { headers })).status).toBe(200)
    }
  })

  test('is ignored when there is a bearer token, from any site', async () => {
    const headers = { ...cookie(), origin: 'https://evil.example' }
    const reply = await market
      .client()
      .put('/api/profile', { bio: 'By token' }, { bearer: person.token, headers })
    expect(reply.status).toBe(200)
    const agent = await makeAgent(market)
    expect((await market.client().get('/api/agents/me', { bearer: agent.apiKey, headers })).status).toBe(200)
  })
})

describe('two credentials at once', () => {
  test('returns 400 two_credentials for an API key and a user’s access token', async () => {
    const { apiKey } = await makeAgent(market)
    const reply = await market
      .client()
      .put('/api/profile', { idp_access_token: person.token }, { bearer: apiKey })
    expect([reply.status, reply.body.code]).toEqual([400, 'two_credentials'])
  })

  test('returns 400 two_credentials for a user’s access token and a wallet that is not linked to the user', async () => {
    const headers = asHeaders(await signed(evmSigner(), 'agents.recover', market.now()))
    const reply = await market.client().post('/api/agents/recover', {}, { bearer: person.token, headers })
    expect([reply.status, reply.body.code]).toEqual([400, 'two_credentials'])
  })

  test('a user’s access token and a signature of a linked wallet are one caller', async () => {
    const wallet = evmSigner()
    const { token } = await makeUser(market, { wallets: [wallet.address] })
    const name = someName()
    const proof = await signed(wallet, `agents.register:${name}`, market.now())
    const fields = { name, description: DESCRIPTION, owner_wallet: wallet.address, ...proof }
    const registered = await market.client().post('/api/agents/register', fields, { bearer: token })
    expect([registered.status, registered.body.data.marketable]).toEqual([201, true])
    const headers = asHeaders(await signed(wallet, 'session', market.now()))
    for (const path of ['/api/orders', '/api/notifications'])
      expect((await market.client().get(path, { bearer: token, headers })).status).toBe(200)
  })

  test('a cookie of our own pages counts before a wallet signature', async () => {
    const wallet = evmSigner()
    const { sub, token } = await makeUser(market, { wallets: [wallet.address] })
    const from = { cookie: `idp-token=${token}`, origin: APP_URL }
    const name = someName()
    const proof = await signed(wallet, `agents.register:${name}`, market.now())
    const fields = { name, description: DESCRIPTION, ...proof }
    const registered = await market.client().post('/api/agents/register', fields, { headers: from })
    expect(registered.status).toBe(201)
    const row = await market.db
      .selectFrom('agents')
      .select('owner_user_id')
      .where('id', '=', registered.body.data.agent_id)
      .executeTakeFirstOrThrow()
    expect(row.owner_user_id).toBe(sub)
    const other = asHeaders(await signed(evmSigner(), 'session', market.now()))
    const read = (headers: Record<string, string>) => market.client().get('/api/orders', { headers })
    const reply = await read({ ...from, ...other })
    expect([reply.status, reply.body.code]).toEqual([400, 'two_credentials'])
    expect((await read({ ...from, ...other, origin: 'https://evil.example' })).status).toBe(200)
  })

  test('a signature counts when the access token beside it is not valid', async () => {
    const wallet = evmSigner()
    const headers = asHeaders(await signed(wallet, 'session', market.now()))
    const ask = { bearer: 'not.a.token', headers }
    expect((await market.client().get('/api/orders', ask)).status).toBe(200)
    const profile = await market.client().get('/api/profile', ask)
    expect([profile.status, profile.body.code]).toEqual([401, 'bad_token'])
  })

  test('X-Market-Wallet-Chain counts beside a signature in the query', async () => {
    const proof = await signed(evmSigner(), 'session', market.now())
    const query = new URLSearchParams({ ...proof, wallet_sig_ts: String(proof.wallet_sig_ts) })
    const headers = { 'x-market-wallet-chain': 'solana' }
    const reply = await market.client().get(`/api/orders?${query}`, { headers })
    expect([reply.status, reply.body.code]).toEqual([401, 'bad_wallet_fields'])
  })
})

test.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearer \u00e9', `Bearer ${'x'.repeat(9_000)}`])(
  'an Authorization header that is not a bearer token is rejected: %s',
  async (authorization) => {
    const reply = await market.client().get('/api/profile', { headers: { authorization } })
    expect(reply.status).toBe(401)
    expect(reply.body.success).toBe(false)
  },
)
