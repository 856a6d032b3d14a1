import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeWeekly, openPurchasedWorkspace, QUOTA } from '../support/workspace.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const PROMPT = 'A blue square'

async function bought() {
  const agent = await makeOwnedAgent(market)
  const { id, accessToken } = await openPurchasedWorkspace(market, await makeWeekly(market, agent))
  return { id, agent, path: `/api/x402/orders/${id}/generate`, body: { t: accessToken, prompt: PROMPT } }
}

commonWriteErrors({
  market: () => market,
  operation: operations.generateForPurchase,
  good: bought,
  success: 202,
  other: (call) => ({ ...call, body: { ...(call.body as object), prompt: 'A red square' } }),
})

test('200: the agent answered while the request waited', async () => {
  const { id, agent, path, body } = await bought()
  const requested = market.client().post(path, { ...body, wait_seconds: 25 })
  let pending: string | undefined
  while (pending === undefined) {
    const listed = await market.client().get(`/api/orders/${id}/deliverables`, { bearer: agent.apiKey })
    pending = listed.body.data[0]?.id
  }
  const made = { deliverable: { type: 'text', content: 'Blue' } }
  await market.client().put(`/api/orders/${id}/deliverables/${pending}`, made, { bearer: agent.apiKey })
  const reply = await requested
  expect([reply.status, reply.body.data.deliverable]).toMatchObject([
    200,
    { id: pending, status: 'completed' },
  ])
})

test('202: takes a unit with the access token alone', async () => {
  const { path, body } = await bought()
  const reply = await market.client().post(path, body)
  expect([reply.status, reply.body.data]).toMatchObject([
    202,
    { deliverable: { status: 'pending', prompt: PROMPT }, quota_used: 1, quota_total: QUOTA },
  ])
})

test('400: no access token, and no prompt', async () => {
  const { path, body } = await bought()
  invalid(await market.client().post(path, { prompt: PROMPT }), 't')
  invalid(await market.client().post(path, { t: body.t }), 'prompt')
})

test('404: the token of another order', async () => {
  const [one, other] = [await bought(), await bought()]
  rejected(await market.client().post(one.path, other.body), 404, 'order_not_found')
})

test('409: the quota is used up', async () => {
  const { path, body } = await bought()
  for (let n = 0; n < QUOTA; n++) expect((await market.client().post(path, body)).status).toBe(202)
  rejected(await market.client().post(path, body), 409, 'quota_used_up')
})
