import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { asHeaders, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { SERVICE } from '../support/services.ts'
import type { Subject } from '../support/valid-request.ts'

const MISSING = `agt_1700000000000_${'0'.repeat(17)}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (agentId: string) => `/api/agents/${agentId}/portfolio`
const list = (agentId: string, query = '', ask?: RequestOptions) =>
  market.client().get(`${pathOf(agentId)}${query}`, ask)

const subject: Subject = {
  market: () => market,
  operation: operations.listPortfolio,
  good: async () => ({ path: pathOf((await makeOwnedAgent(market)).id) }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(MISSING))

/** A completed order with one delivery. */
async function makeCompleted({ agent, service }: Awaited<ReturnType<typeof makeAgentWithService>>) {
  const { id, buyer, sign } = await makeOrderIn(market, service, 'completed')
  await market.db
    .insertInto('order_deliveries')
    .values({
      order_id: id,
      n: 1,
      note: 'For the buyer only',
      items: JSON.stringify([
        { type: 'image', url: 'https://files.example/logo.png', media_type: 'image/png', title: 'Logo' },
        { type: 'text', content: 'é'.repeat(300) },
      ]),
      at: new Date(market.now()),
    })
    .execute()
  return { id, agent, buyer, sign }
}

test('200: completed orders with their deliverables, without the buyer, their brief and a note', async () => {
  const seller = await makeAgentWithService(market)
  const { id, buyer } = await makeCompleted(seller)
  const { status, body } = await list(seller.agent.id)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: [
      {
        source_type: 'order',
        source_id: id,
        service_id: seller.service.id,
        title: SERVICE.title,
        completed_at: expect.any(String),
        hidden: false,
        deliverables: [
          {
            source_type: 'deliverable',
            source_id: `${id}:1`,
            type: 'image',
            url: 'https://files.example/logo.png',
            excerpt: null,
            media_type: 'image/png',
            sha256: null,
            title: 'Logo',
            hidden: false,
          },
          {
            source_type: 'deliverable',
            source_id: `${id}:2`,
            type: 'text',
            url: null,
            excerpt: 'é'.repeat(280),
            media_type: null,
            sha256: null,
            title: null,
            hidden: false,
          },
        ],
      },
    ],
    next_cursor: null,
  })
  const text = JSON.stringify(body).toLowerCase()
  for (const hidden of [buyer.address.toLowerCase(), 'for the buyer only', 'review the branch'])
    expect(text).not.toContain(hidden)
  const page = (await market.client().get(`/api/agents/${seller.agent.id}`)).body.data
  expect(page.portfolio).toEqual(body.data)
})

test('200: an order that was placed with private: true is not in it', async () => {
  const seller = await makeAgentWithService(market)
  const { id } = await makeCompleted(seller)
  await market.db.updateTable('orders').set({ is_private: true }).where('id', '=', id).execute()
  for (const ask of [undefined, { bearer: seller.agent.apiKey }])
    expect((await list(seller.agent.id, '', ask)).body.data).toEqual([])
  expect((await market.client().get(`/api/agents/${seller.agent.id}`)).body.data.portfolio).toEqual([])
})

test('200: hidden work, for the agent, its owner wallet and the user who linked it', async () => {
  const seller = await makeAgentWithService(market)
  const { agent } = seller
  const { id } = await makeCompleted(seller)
  const change = { action: 'hide', source_type: 'order', source_id: id }
  await market.client().send('PATCH', pathOf(agent.id), { bearer: agent.apiKey, body: change })
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const headers = await signOnce(market, agent.owner, 'session')
  for (const ask of [{ bearer: agent.apiKey }, { bearer: token }, { headers }])
    expect((await list(agent.id, '', ask)).body.data).toMatchObject([{ source_id: id, hidden: true }])
  const other = await makeUser(market)
  for (const ask of [undefined, { bearer: other.token }])
    expect((await list(agent.id, '', ask)).body.data).toEqual([])
  expect((await market.client().get(`/api/agents/${agent.id}`)).body.data.portfolio).toEqual([])
})

test('400: an invalid id, limit or cursor', async () => {
  const { id } = await makeOwnedAgent(market)
  invalid(await list('agent_1'), 'agent_id')
  for (const limit of ['0', '101', 'all']) invalid(await list(id, `?limit=${limit}`), 'limit')
  for (const cursor of ['x', forgeCursor(['orders', 1, 'ord_1_00000000000000000'])])
    invalid(await list(id, `?cursor=${cursor}`), 'cursor')
})

test('401: a wrong credential, also for an agent that does not exist', async () => {
  rejected(await list(MISSING, '', { bearer: `market_${'0'.repeat(49)}` }), 401, 'bad_api_key')
  rejected(await list(MISSING, '', { bearer: 'not.a.token' }), 401, 'bad_token')
  for (const [code, proof] of await badSignatures(await solanaSigner(), 'session', market.now()))
    rejected(await list(MISSING, '', { headers: asHeaders(proof) }), 401, code)
})

test('404: a missing agent', async () => {
  for (const id of ['agt_1', MISSING]) rejected(await list(id), 404, 'agent_not_found')
})
