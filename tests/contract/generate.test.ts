import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'
import { makeWeekly, makeWorkspace, openWorkspace, QUOTA } from '../support/workspace.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const PROMPT = { prompt: 'A blue square' }

/** A workspace that an agent has bought, which can request with its key again and again. */
async function boughtByAgent() {
  const [seller, buyer] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const { id } = await openWorkspace(market, await makeWeekly(market, seller))
  await market.db
    .updateTable('orders')
    .set({ buyer: `agent:${buyer.id}` })
    .where('id', '=', id)
    .execute()
  return { path: `/api/orders/${id}/generate`, body: PROMPT, ask: { bearer: buyer.apiKey } }
}

const subject: Subject = {
  market: () => market,
  operation: operations.generate,
  good: boughtByAgent,
  success: 202,
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, body: { prompt: 'A red square' } }) })
rejectsWithoutProvider(subject, `/api/orders/${NO_ORDER}/generate`)

test('202: takes a unit and sends the agent the prompt with a deadline', async () => {
  const { id, agent, generate } = await makeWorkspace(market)
  const { status, body } = await generate()
  expect(status).toBe(202)
  expect(body.data).toEqual({
    deliverable: {
      id: expect.stringMatching(/^dlv_\d{13}_[0-9a-z]{17}$/),
      ...{ prompt: PROMPT.prompt, status: 'pending', deliverable: null, failure: null, ended_at: null },
      ...{ deadline: expect.stringMatching(INSTANT), created_at: expect.stringMatching(INSTANT) },
    },
    quota_used: 1,
    quota_total: QUOTA,
  })
  const { deliverable } = body.data
  const tenMinutes = Date.parse(deliverable.deadline) - Date.parse(deliverable.created_at)
  expect(tenMinutes).toBe(600_000)
  const events = await market.client().get('/api/events', { bearer: agent.apiKey })
  expect(events.body.data.at(-1)).toMatchObject({
    event: 'workspace.generate',
    order_id: id,
    data: { deliverable_id: deliverable.id, ...PROMPT, deadline: deliverable.deadline },
  })
})

test('200: the agent answered while the request waited', async () => {
  const { agent, answer, generate } = await makeWorkspace(market)
  const requested = generate({ ...PROMPT, wait_seconds: 25 })
  let id: string | undefined
  while (id === undefined) {
    const events = await market.client().get('/api/events', { bearer: agent.apiKey })
    id = events.body.data.find(({ event }: { event: string }) => event === 'workspace.generate')?.data
      .deliverable_id
  }
  await answer(id, { deliverable: { type: 'text', content: 'Blue' } })
  const { status, body } = await requested
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    deliverable: { id, status: 'completed', deliverable: { type: 'text', content: 'Blue' } },
    quota_used: 1,
  })
})

test('202: the same Idempotency-Key takes one unit, and returns the request as it was', async () => {
  const { path, body, ask } = await boughtByAgent()
  const again = { ...ask, headers: { 'idempotency-key': 'one' } }
  const [first, second] = [
    await market.client().post(path, body, again),
    await market.client().post(path, body, again),
  ]
  expect([first.status, second.status]).toEqual([202, 202])
  expect(second.body).toEqual(first.body)
  expect(first.body.data.quota_used).toBe(1)
})

test('400: a prompt that is missing, empty or too long, and a wait above 25 seconds', async () => {
  const { path, ask } = await boughtByAgent()
  for (const prompt of [undefined, '', 'x'.repeat(4_001)])
    invalid(await market.client().post(path, { prompt }, ask), 'prompt')
  invalid(await market.client().post(path, { ...PROMPT, wait_seconds: 26 }, ask), 'wait_seconds')
})

test('403: the agent of the workspace requests nothing', async () => {
  const { id, agent } = await makeWorkspace(market)
  const reply = await market.client().post(`/api/orders/${id}/generate`, PROMPT, { bearer: agent.apiKey })
  rejected(reply, 403, 'not_your_act')
})

test('404: an order of others, and one that does not exist', async () => {
  const { id } = await makeWorkspace(market)
  const other = { bearer: (await makeOwnedAgent(market)).apiKey }
  for (const order of [id, NO_ORDER])
    rejected(
      await market.client().post(`/api/orders/${order}/generate`, PROMPT, other),
      404,
      'order_not_found',
    )
})

test('409: the quota is used up', async () => {
  const { generate } = await makeWorkspace(market, 1)
  await generate()
  rejected(await generate(), 409, 'quota_used_up')
})

test('409: the workspace has ended, and an order without a workspace', async () => {
  const { id, generate } = await makeWorkspace(market)
  await market.db
    .updateTable('orders')
    .set({ workspace_ends_at: new Date(market.now()) })
    .where('id', '=', id)
    .execute()
  rejected(await generate(), 409, 'workspace_ended')
  await market.db.updateTable('orders').set({ quota_total: 0 }).where('id', '=', id).execute()
  rejected(await generate(), 409, 'workspace_not_open')
})
