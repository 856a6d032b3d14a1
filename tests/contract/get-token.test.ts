import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOperation, insertToken, NO_AGENT, PAYEE } from '../support/agent-wallets.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { INSTANT } from '../support/shapes.ts'

const pathOf = (agent: string) => `/api/agents/${agent}/token`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject = {
  market: () => market,
  operation: operations.getToken,
  good: async () => {
    const { id } = await makeOwnedAgent(market)
    await insertToken(market, id)
    return { path: pathOf(id) }
  },
}
commonErrors(subject)

test('200: by id or slug, without a credential', async () => {
  const { id, slug } = await makeOwnedAgent(market)
  const { mint, name } = await insertToken(market, id)
  for (const agent of [id, slug, slug.toUpperCase()]) {
    const { status, body } = await market.client().get(pathOf(agent))
    expect(status).toBe(200)
    expect(body.data).toEqual({
      ...{ agent_id: id, token_mint: mint, token_name: name, token_symbol: 'TOK', token_mode: 'pumpfun' },
      ...{ token_creator_wallet: PAYEE, token_image_url: null, token_tx_hash: null },
      created_at: expect.stringMatching(INSTANT),
    })
  }
})

test('400: an empty or endless id', async () => {
  for (const agent of ['%20', 'x'.repeat(601)]) invalid(await market.client().get(pathOf(agent)), 'agent_id')
})

test('404: no such agent, no token, and a launch that is not final', async () => {
  const { id } = await makeOwnedAgent(market)
  rejected(await market.client().get(pathOf(id)), 404, 'token_not_found')
  await insertOperation(market, id, { kind: 'launch' })
  rejected(await market.client().get(pathOf(id)), 404, 'token_not_found')
  for (const agent of [NO_AGENT, 'nobody'])
    rejected(await market.client().get(pathOf(agent)), 404, 'agent_not_found')
})
