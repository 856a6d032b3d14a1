import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOperation, insertToken, NO_AGENT } from '../support/agent-wallets.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { BASE_URL } from '../support/settings.ts'

const pathOf = (agent: string) => `/api/agents/${agent}/token/metadata`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.getTokenDocument,
  good: async () => {
    const { id } = await makeOwnedAgent(market)
    await insertOperation(market, id, { kind: 'launch' })
    return { path: pathOf(id) }
  },
}
commonErrors(subject)

test('200: the document without an envelope, from the request of the launch on', async () => {
  const { id, slug } = await makeOwnedAgent(market)
  await insertOperation(market, id, { kind: 'launch' })
  for (const agent of [id, slug]) {
    const { status, headers, body } = await market.client().get(pathOf(agent))
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toContain('s-maxage=60')
    expect(body).toEqual({
      name: 'A Token',
      symbol: 'TOK',
      description: 'A token that a test describes.',
      image: 'https://hooks.example/token.png',
      external_url: `${BASE_URL}/api/agents/${id}`,
    })
  }
})

test('400: an endless id', async () => {
  invalid(await market.client().get(pathOf('x'.repeat(601))), 'agent_id')
})

test('404: no such agent, no launch, and a token that was launched elsewhere', async () => {
  const { id } = await makeOwnedAgent(market)
  rejected(await market.client().get(pathOf(id)), 404, 'token_not_found')
  await insertToken(market, id)
  rejected(await market.client().get(pathOf(id)), 404, 'token_not_found')
  rejected(await market.client().get(pathOf(NO_AGENT)), 404, 'agent_not_found')
})
