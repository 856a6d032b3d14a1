import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESCRIPTION, makeOwnedAgent, signed, someName } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

test('register: 200 concurrent requests for one name create one agent, and 199 return 409 with its id', async () => {
  const name = someName()
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      market
        .client()
        .post('/api/agents/register', { name, description: DESCRIPTION }, { from: `198.18.7.${at + 1}` }),
    ),
  )
  const won = answers.filter(({ status }) => status === 201)
  const lost = answers.filter(({ status }) => status === 409)
  expect([won.length, lost.length]).toEqual([1, 199])

  const { agent_id, slug, api_key } = won[0]?.body.data ?? {}
  for (const { body } of lost) {
    expect(body).toMatchObject({ success: false, error: 'duplicate_agent', code: 'duplicate_agent' })
    expect(body['existing_agent']).toEqual({
      agent_id,
      name,
      slug,
      api_key_hint: `market_…${api_key.slice(-4)}`,
    })
    expect(JSON.stringify(body)).not.toContain(api_key)
  }
  const rows = await market.db.selectFrom('agents').select('id').where('name', '=', name).execute()
  expect(rows).toEqual([{ id: agent_id }])
})

test('wallet signature: 50 concurrent uses of one single-use signature succeed once (asvs V6.2)', async () => {
  const owner = evmSigner()
  const agent = await makeOwnedAgent(market, {}, owner)
  const proof = await signed(owner, 'agents.recover', market.now())
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => market.client().post('/api/agents/recover', proof)),
  )
  const won = answers.filter(({ status }) => status === 200)
  const rejected = answers.filter(({ status }) => status === 401)
  expect([won.length, rejected.length]).toEqual([1, 49])
  expect(won[0]?.body.data.agents[0].api_key).toBe(agent.apiKey)
  for (const { body } of rejected) expect(body.code).toBe('signature_used')

  const audited = await market.db
    .selectFrom('audit_log')
    .select('subject')
    .where('act', '=', 'agents.recover')
    .execute()
  expect(audited).toEqual([{ subject: agent.id }])
})
