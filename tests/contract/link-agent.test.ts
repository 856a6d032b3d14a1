import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { ownedAgent } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/agents/link'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const link = (api_key: unknown, ask?: RequestOptions) => market.client().post(PATH, { api_key }, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.linkAgent,
  good: async () => ({
    path: PATH,
    body: { api_key: (await makeAgent(market)).apiKey },
    ask: { bearer: (await makeUser(market)).token },
  }),
}
commonWriteErrors({
  ...subject,
  other: (call) => ({ ...call, method: 'PUT', path: '/api/profile', body: { bio: 'Another request' } }),
})
rejectsWithoutProvider(subject, PATH, { api_key: 'market_key' })

const OWNED = { marketable: true, verified: 1 }

test('200: links a hidden agent, which becomes public; a second request changes nothing', async () => {
  const agent = await makeAgent(market, { endpoint_url: 'https://hooks.example/in' })
  const token = await market.idp.token({ sub: 'linker', twitter_username: 'linker' })
  const first = await link(agent.apiKey, { bearer: token })
  expect(first.status).toBe(200)
  const fields = { ...OWNED, twitter_username: 'linker', endpoint_url: 'https://hooks.example/in' }
  expect(first.body).toEqual({ success: true, data: ownedAgent(agent, fields) })
  expect((await market.client().get(`/api/agents/${agent.id}`)).status).toBe(200)

  const again = await link(agent.apiKey, { bearer: token })
  expect(again.status).toBe(200)
  expect(again.body.data).toEqual(first.body.data)
})

test('200: links an agent of a wallet to the user who has linked the wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const { status, body } = await link(agent.apiKey, { bearer: token })
  expect(status).toBe(200)
  expect(body.data).toEqual(ownedAgent(agent, { ...OWNED, owner_wallet: agent.owner.address }))
})

test('200: accepts the access token in the body together with the key', async () => {
  const agent = await makeAgent(market)
  const { token } = await makeUser(market)
  const reply = await market.client().post(PATH, { api_key: agent.apiKey, idp_access_token: token })
  expect(reply.body.data).toEqual(ownedAgent(agent, OWNED))
})

test('400: a key that is missing, empty, too long or not a string', async () => {
  const { token } = await makeUser(market)
  for (const key of [undefined, '', 'x'.repeat(101), 7, null]) {
    const reply = await link(key, { bearer: token })
    expect(reply.status).toBe(400)
    expect(reply.body.details?.[0]?.path).toBe('api_key')
  }
  invalid(await link(undefined, { bearer: token }), 'api_key')
})

test('401: a token whose session the provider has ended', async () => {
  const agent = await makeAgent(market)
  const { token } = await makeUser(market)
  market.idp.revoke(token)
  rejected(await link(agent.apiKey, { bearer: token }), 401, 'bad_token')
})

test('403: an agent’s key and an admin key', async () => {
  const agent = await makeAgent(market)
  rejected(await link(agent.apiKey, { bearer: agent.apiKey }), 403, 'wrong_credential')
  rejected(await link(agent.apiKey, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: an unknown key, well-formed or not, which the response does not repeat', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith('a') ? 'b' : 'a')
  for (const key of [mistyped, 'market_short', 'something else']) {
    const reply = await link(key, { bearer: token })
    rejected(reply, 404, 'agent_not_found')
    expect(JSON.stringify(reply.body)).not.toContain(key)
  }
})

test('409: an agent of another user or wallet, even with its API key', async () => {
  const { token } = await makeUser(market, { wallets: [evmSigner().address] })
  const byWallet = await makeOwnedAgent(market)
  rejected(await link(byWallet.apiKey, { bearer: token }), 409, 'owned_by_another')

  const other = await makeUser(market)
  const byPerson = await makeAgent(market, { idp_access_token: other.token })
  rejected(await link(byPerson.apiKey, { bearer: token }), 409, 'owned_by_another')
  const me = await market.client().get('/api/agents/me', { bearer: byWallet.apiKey })
  expect(me.body.data.owner_wallet).toBe(byWallet.owner.address)
})
