import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { INSTANT } from '../support/shapes.ts'
import { insertPending, makeWorkspace, QUOTA } from '../support/workspace.ts'

const MISSING = `dlv_1700000000000_${'0'.repeat(17)}`
const MADE = { deliverable: { type: 'text', content: 'Blue' } }

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

async function requested() {
  const workspace = await makeWorkspace(market)
  return { ...workspace, deliverableId: await insertPending(market, workspace.id) }
}

/** Another request in the workspace of the one at the path. */
const others = new Map<string, string>()

const subject = {
  market: () => market,
  operation: operations.answerGeneration,
  good: async () => {
    const { id, deliverableId, agent } = await requested()
    const pathOf = (deliverable: string) => `/api/orders/${id}/deliverables/${deliverable}`
    others.set(pathOf(deliverableId), pathOf(await insertPending(market, id)))
    return { path: pathOf(deliverableId), body: MADE as object, ask: { bearer: agent.apiKey } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: others.get(call.path) ?? '' }) })
rejectsWithoutProvider(subject, `/api/orders/${NO_ORDER}/deliverables/${MISSING}`)

test('200: completed, and the order stays in progress', async () => {
  const { id, deliverableId, answer, headers } = await requested()
  const { status, body } = await answer(deliverableId, MADE)
  expect(status).toBe(200)
  const item = { ...MADE.deliverable, url: null, media_type: null, sha256: null, title: null }
  const deliverable = {
    ...{ id: deliverableId, prompt: 'A blue square', status: 'completed', deliverable: item, failure: null },
    deadline: expect.stringMatching(INSTANT),
    created_at: expect.stringMatching(INSTANT),
    ended_at: expect.stringMatching(INSTANT),
  }
  expect(body.data).toEqual({ deliverable, quota_used: 1, quota_total: QUOTA })
  const page = await market.client().get(`/api/orders/${id}`, { headers })
  expect(page.body.data).toMatchObject({
    order: { status: 'in_progress', quota_used: 1, quota_total: QUOTA, deliver_by: null },
    deliverables: [item],
    generations: [deliverable],
  })
})

test('200: failed, which gives the unit back', async () => {
  const { deliverableId, answer } = await requested()
  const { body } = await answer(deliverableId, { status: 'failed', reason: 'The model is away' })
  expect(body.data).toMatchObject({
    deliverable: { status: 'failed', failure: 'The model is away', deliverable: null },
    quota_used: 0,
  })
})

test('400: neither or both of deliverable and reason, and a wrong id', async () => {
  const { deliverableId, answer } = await requested()
  invalid(await answer(deliverableId, {}), 'deliverable')
  invalid(await answer(deliverableId, { ...MADE, reason: 'No' }), 'deliverable')
  invalid(await answer(deliverableId, { status: 'failed' }), 'reason')
  invalid(await answer('dlv_', MADE), 'deliverable_id')
})

test('403: the buyer does not answer', async () => {
  const { id, deliverableId, sign } = await requested()
  const headers = await sign(`orders.answer:${id}`)
  const path = `/api/orders/${id}/deliverables/${deliverableId}`
  rejected(await market.client().put(path, MADE, { headers }), 403, 'not_your_act')
})

test('404: an order of others, and a deliverable that does not exist', async () => {
  const { id, deliverableId, answer } = await requested()
  const other = { bearer: (await makeOwnedAgent(market)).apiKey }
  const path = `/api/orders/${id}/deliverables/${deliverableId}`
  rejected(await market.client().put(path, MADE, other), 404, 'order_not_found')
  rejected(await answer(MISSING, MADE), 404, 'deliverable_not_found')
})

test('409: answered before, and after the deadline', async () => {
  const { id, deliverableId, answer } = await requested()
  await answer(deliverableId, MADE)
  rejected(await answer(deliverableId, MADE), 409, 'generation_ended')
  const late = await insertPending(market, id)
  await market.db
    .updateTable('workspace_deliverables')
    .set({ deadline: new Date(market.now()) })
    .where('id', '=', late)
    .execute()
  rejected(await answer(late, MADE), 409, 'generation_ended')
})
