import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agentId: string) => `/api/agents/${agentId}/portfolio`
const update = (agentId: string, body: object, ask: RequestOptions = {}) =>
  market.client().send('PATCH', pathOf(agentId), { ...ask, body })

const hide = (source_id: string, source_type = 'order') => ({ action: 'hide', source_type, source_id })

async function makeWork() {
  const { agent, service } = await makeAgentWithService(market)
  const { id } = await makeOrderIn(market, service, 'completed')
  return { agent, service, id, ask: { bearer: agent.apiKey } }
}

let another = ''

commonWriteErrors({
  market: () => market,
  operation: operations.updatePortfolio,
  good: async () => {
    const { agent, service, id, ask } = await makeWork()
    another = (await makeOrderIn(market, service, 'completed')).id
    return { path: pathOf(agent.id), body: hide(id), ask }
  },
  other: (call) => ({ ...call, body: hide(another) }),
})

test('200: hides and shows an order; a second request changes nothing', async () => {
  const { agent, id, ask } = await makeWork()
  const shown = async () => (await market.client().get(pathOf(agent.id))).body.data.length
  for (const [action, hidden] of [
    ['hide', true],
    ['hide', true],
    ['unhide', false],
    ['unhide', false],
  ] as const) {
    const { status, body } = await update(agent.id, { ...hide(id), action }, ask)
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, data: { source_type: 'order', source_id: id, hidden } })
    expect(await shown()).toBe(hidden ? 0 : 1)
  }
})

test('200: by the owner wallet, and by the user who linked it', async () => {
  const { agent, id } = await makeWork()
  const headers = await signOnce(market, agent.owner, `agents.portfolio:${agent.id}`)
  expect((await update(agent.id, hide(id), { headers })).status).toBe(200)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  expect((await update(agent.id, hide(id), { bearer: token })).status).toBe(200)
})

test('400: an unknown action or kind of source, an empty id, a missing and an unknown field', async () => {
  const { agent, id, ask } = await makeWork()
  invalid(await update(agent.id, { ...hide(id), action: 'delete' }, ask), 'action')
  invalid(await update(agent.id, hide(id, 'review'), ask), 'source_type')
  for (const source of ['', 'x'.repeat(601), 'a\u0000b'])
    invalid(await update(agent.id, hide(source), ask), 'source_id')
  invalid(await update(agent.id, { action: 'hide', source_type: 'order' }, ask), 'source_id')
  invalid(await update(agent.id, { ...hide(id), hidden: true }, ask), '')
  invalid(await update('agent_1', hide(id), ask), 'agent_id')
})

test('403: another agent, user or wallet', async () => {
  const { agent, id } = await makeWork()
  const { ask: other } = await makeWork()
  const { token } = await makeUser(market)
  const headers = await signOnce(market, evmSigner(), `agents.portfolio:${agent.id}`)
  for (const ask of [other, { bearer: token }, { headers }])
    rejected(await update(agent.id, hide(id), ask), 403, 'not_your_agent')
  rejected(await update(agent.id, hide(id), { bearer: ADMIN_KEY }), 403, 'wrong_credential')
  expect((await market.client().get(pathOf(agent.id))).body.data).toHaveLength(1)
})

test('404: a missing agent, and a source that is not in the portfolio', async () => {
  const { agent, service, ask } = await makeWork()
  const { id: open } = await makeOrderIn(market, service, 'delivered')
  const { id: foreign } = await makeWork()
  for (const source of [open, foreign, 'ord_1', 'x'])
    rejected(await update(agent.id, hide(source), ask), 404, 'portfolio_source_not_found')
  rejected(await update(agent.id, hide(`${open}:1`, 'deliverable'), ask), 404, 'portfolio_source_not_found')
  const { token } = await makeUser(market)
  rejected(await update(MISSING, hide(open), { bearer: token }), 404, 'agent_not_found')
})

test('409: more hidden sources than the limit', async () => {
  const { agent, id, ask } = await makeWork()
  const rows = Array.from({ length: 1_000 }, (_, n) => ({
    agent_id: agent.id,
    source_type: 'deliverable',
    source_id: `dlv_${n}`,
    order_id: id,
    hidden_at: new Date(market.now()),
  }))
  await market.db.insertInto('portfolio_hidden').values(rows).execute()
  rejected(await update(agent.id, hide(id), ask), 409, 'portfolio_hidden_limit')
})
