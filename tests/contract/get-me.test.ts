import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT, userOf } from '../support/shapes.ts'

const PATH = '/api/me'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.getMe,
  good: async () => ({ path: PATH, ask: {} }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const me = async (ask: RequestOptions) => {
  const { status, body } = await market.client().get(PATH, ask)
  expect(status).toBe(200)
  return body.data
}

const NOBODY = {
  kind: 'anonymous',
  credential: 'none',
  user: null,
  wallet: null,
  agent: null,
  wallets: [],
  is_operator: false,
  login_at: null,
  unread_count: 0,
  session: null,
}

test('200: nobody', async () => {
  expect(await me({})).toEqual(NOBODY)
})

test('200: a user, before and after the account exists', async () => {
  const before = await me({ bearer: await market.idp.token({ sub: 'me-without-account' }) })
  expect(before).toMatchObject({ kind: 'user', user: null, unread_count: 0 })
  const wallet = evmSigner().address
  const { sub, token } = await makeUser(market, { wallets: [wallet] })
  expect(await me({ bearer: token })).toEqual({
    ...NOBODY,
    kind: 'user',
    credential: 'access_token',
    user: userOf(sub),
    wallets: [{ address: wallet, chain: 'base' }],
    login_at: expect.stringMatching(INSTANT),
  })
})

test('200: an operator, an operator’s key, an agent', async () => {
  expect(await me({ bearer: await operatorToken(market) })).toMatchObject({ kind: 'user', is_operator: true })
  expect(await me({ bearer: ADMIN_KEY })).toEqual({
    ...NOBODY,
    kind: 'admin_key',
    credential: 'operator_key',
  })
  const agent = await makeAgent(market)
  expect(await me({ bearer: agent.apiKey })).toEqual({
    ...NOBODY,
    kind: 'agent',
    credential: 'api_key',
    agent: { id: agent.id, slug: agent.slug, name: agent.name },
  })
})

test('200: a wallet, by signature and by session, with its unread notifications', async () => {
  const wallet = evmSigner()
  await makeOwnedAgent(market, {}, wallet)
  await market.client().post('/api/agents/recover', await signed(wallet, 'agents.recover'))
  const headers = asHeaders(await signed(wallet, 'session'))
  const expected = {
    ...NOBODY,
    kind: 'wallet',
    credential: 'wallet_signature',
    wallet: { address: wallet.address, chain: 'base' },
    unread_count: 1,
  }
  expect(await me({ headers })).toEqual(expected)
  const proof = asHeaders(await signed(wallet, 'sessions.start'))
  const started = await market.client().post('/api/auth/session', {}, { headers: proof })
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(await me({ headers: { cookie, 'sec-fetch-site': 'same-origin' } })).toEqual({
    ...expected,
    credential: 'session',
    session: { expires_at: started.body.data.expires_at, reads_only: true },
  })
})

test('400: two credentials', async () => {
  const { apiKey } = await makeAgent(market)
  const headers = asHeaders(await signed(evmSigner(), 'session'))
  rejected(await market.client().get(PATH, { bearer: apiKey, headers }), 400, 'two_credentials')
})

test('401: a key and an access token that are not valid', async () => {
  rejected(await market.client().get(PATH, { bearer: 'am_live_unknown' }), 401, 'bad_token')
  rejected(await market.client().get(PATH, { bearer: 'not.a.token' }), 401, 'bad_token')
})

test('200: a session that does not exist is nobody', async () => {
  const cookie = `idp-token=session_user_${'a'.repeat(43)}`
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const { status, body } = await market.client().get(PATH, { headers })
  expect([status, body.data.kind]).toEqual([200, 'anonymous'])
})
