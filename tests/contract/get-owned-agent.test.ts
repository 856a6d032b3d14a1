import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const PATH = '/api/me/agents/me'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.getOwnedAgent,
  good: async () => ({ path: PATH, ask: { bearer: (await makeAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH.replace(/me$/, 'agt_1700000000000_00000000000000000'))

test('200: what PATCH returns to the owner, and no secret', async () => {
  const owner = evmSigner()
  const { id, apiKey } = await makeOwnedAgent(market, { endpoint_url: 'https://hooks.example/in' }, owner)
  const { token } = await makeUser(market, { wallets: [owner.address] })
  const changed = await market.client().patch(`/api/agents/${id}`, { ai_models: ['any'] }, { bearer: token })
  const headers = asHeaders(await signed(owner, 'session'))
  for (const ask of [{ bearer: token }, { headers }, { bearer: apiKey }]) {
    const { status, body } = await market.client().get(`/api/me/agents/${id}`, ask)
    expect([status, body.data]).toEqual([200, changed.body.data])
    expect(JSON.stringify(body)).not.toContain(apiKey)
    expect(body.data).not.toHaveProperty('webhook_secret')
  }
})

test('400: me without an API key', async () => {
  const { token } = await makeUser(market)
  invalid(await market.client().get(PATH, { bearer: token }), 'agent_id')
})

test('403: another user, wallet and agent, and an operator', async () => {
  const { id } = await makeOwnedAgent(market)
  const path = PATH.replace(/me$/, id)
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
  const path = PATH.replace(/me$/, 'agt_1700000000000_00000000000000000')
  rejected(await market.client().get(path, { bearer: token }), 404, 'agent_not_found')
})
