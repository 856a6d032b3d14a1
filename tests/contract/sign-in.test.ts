import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY, APP_URL } from '../support/settings.ts'
import { USER_TIME, userOf } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/auth/user'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const signIn = (ask: RequestOptions, body?: unknown) => market.client().post(PATH, body, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.signIn,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, PATH)

test('200: the first request creates the account, the second updates it', async () => {
  const person = {
    sub: 'first-timer',
    email: 'first@example.com',
    username: 'first',
    name: 'First Timer',
    picture: 'https://other.example/first.png',
    twitter_username: '@first_timer',
  }
  const bearer = await market.idp.token(person)
  const before = Math.floor(market.now() / 1_000) * 1_000
  const first = await signIn({ bearer })
  expect(first.status).toBe(200)
  const user = {
    idp_user_id: 'first-timer',
    username: 'first',
    display_name: 'First Timer',
    twitter_username: 'first_timer',
    google_email: 'first@example.com',
    avatar_url: 'https://other.example/first.png',
    bio: null,
    created_at: expect.stringMatching(USER_TIME),
    updated_at: expect.stringMatching(USER_TIME),
  }
  expect(first.body).toEqual({ success: true, data: { user, wallets: [], is_new: true, backfilled: 0 } })
  const createdAt = Date.parse(`${first.body.data.user.created_at.replace(' ', 'T')}Z`)
  expect(createdAt).toBeGreaterThanOrEqual(before)
  expect(createdAt).toBeLessThanOrEqual(market.now())

  market.idp.setPerson({ ...person, username: 'renamed', email: 'second@example.com' })
  const second = await signIn({ bearer })
  expect(second.body.data).toEqual({
    user: {
      ...first.body.data.user,
      username: 'renamed',
      google_email: 'second@example.com',
      updated_at: user.updated_at,
    },
    wallets: [],
    is_new: false,
    backfilled: 0,
  })
})

test('200: edited profile fields are not overwritten by the provider', async () => {
  const { token } = await makeUser(market)
  await market.client().put('/api/profile', { display_name: 'Chosen', bio: 'Mine' }, { bearer: token })
  const { body } = await signIn({ bearer: token })
  expect(body.data.user).toMatchObject({ display_name: 'Chosen', bio: 'Mine' })
})

test('200: lists linked wallets and counts their agents and orders once', async () => {
  const evm = evmSigner()
  const solana = await solanaSigner()
  await makeOwnedAgent(market, {}, evm)
  await makeOwnedAgent(market, {}, evm)
  const { service } = await makeAgentWithService(market)
  await makeOrderIn(market, service, 'quoted', evm)
  const sub = 'with-wallets'
  const wallets = [evm.address.toLowerCase(), solana.address, evm.address, 'not-a-wallet']
  const bearer = await market.idp.token({ sub, wallets })
  const first = await signIn({ bearer })
  expect(first.body.data).toMatchObject({ is_new: true, backfilled: 3 })
  expect(first.body.data.wallets).toHaveLength(2)
  expect(first.body.data.wallets).toEqual(
    expect.arrayContaining([
      { address: evm.address, chain: 'base' },
      { address: solana.address, chain: 'solana' },
    ]),
  )
  expect((await signIn({ bearer })).body.data.backfilled).toBe(0)
  market.idp.unlink(sub, 'wallets')
  expect((await signIn({ bearer })).body.data.wallets).toEqual([])
})

test('200: sets a linked X handle on the user’s agents', async () => {
  const agent = await makeOwnedAgent(market)
  const bearer = await market.idp.token({
    sub: 'with-handle',
    twitter_username: 'handle',
    wallets: [agent.owner.address],
  })
  await signIn({ bearer })
  const page = await market.client().get(`/api/agents/${agent.id}`)
  expect(page.body.data.agent.twitter_username).toBe('handle')
})

test('200: accepts the access token in the header, the body or the cookie of our own page', async () => {
  const { sub, token } = await makeUser(market)
  const cookie = `other=1; idp-token=${token}`
  for (const reply of [
    await signIn({ bearer: token }),
    await signIn({}, { idp_access_token: token }),
    await signIn({ headers: { cookie, origin: APP_URL } }),
    await signIn({ headers: { cookie, 'sec-fetch-site': 'same-origin' } }),
  ]) {
    expect(reply.status).toBe(200)
    expect(reply.body.data.user).toEqual(userOf(sub))
  }
})

test('401: a token whose session the provider has ended', async () => {
  const { token } = await makeUser(market)
  market.idp.revoke(token)
  rejected(await signIn({ bearer: token }), 401, 'bad_token')
})

test('403: an agent and an admin key', async () => {
  const { apiKey } = await makeAgent(market)
  rejected(await signIn({ bearer: apiKey }), 403, 'wrong_credential')
  rejected(await signIn({ bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('200: reads the profile from the claims of IDP_CLAIMS', async () => {
  const other = await startMarket({ IDP_CLAIMS: 'username=name,name=username' })
  try {
    const bearer = await other.idp.token({ sub: 'swapped', username: 'ann', name: 'Ann Other' })
    const { body } = await other.client().post(PATH, undefined, { bearer })
    expect(body.data.user).toMatchObject({ username: 'Ann Other', display_name: 'ann' })
  } finally {
    await other.stop()
  }
})
