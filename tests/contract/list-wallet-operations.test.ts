import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOperation, NO_AGENT, PAYEE, signedBy } from '../support/agent-wallets.ts'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { INSTANT } from '../support/shapes.ts'
import type { Subject } from '../support/valid-request.ts'

const pathOf = (id: string, query = '') => `/api/agents/${id}/wallet/operations${query}`

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listWalletOperations,
  good: async () => {
    const agent = await makeOwnedAgent(market)
    return { path: pathOf(agent.id), ask: { bearer: agent.apiKey } }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_AGENT))

/** Ends the operation, as the worker does. */
const failAt = (id: string, at: number) =>
  market.db
    .updateTable('wallet_transactions')
    .set({ status: 'failed', failure: 'underfunded', updated_at: new Date(at) })
    .where('id', '=', id)
    .execute()

test('200: newest first with every field, in pages, for the key and the owner wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const old = await insertOperation(market, agent.id, { kind: 'withdraw', createdAt: market.now() - 2_000 })
  await failAt(old, market.now())
  const identity = await insertOperation(market, agent.id, { kind: 'identity' })
  const times = {
    created_at: expect.stringMatching(INSTANT),
    updated_at: expect.stringMatching(INSTANT),
  }
  const none = {
    asset: null,
    amount: null,
    to: null,
    tx_signature: null,
    mint: null,
    failure: null,
    hold_code: null,
  }
  const newest = { ...none, operation_id: identity, kind: 'identity', status: 'requested', ...times }
  const oldest = {
    ...none,
    ...{ operation_id: old, kind: 'withdraw', status: 'failed', failure: 'underfunded' },
    ...{ asset: 'SOL', amount: 1e-9, to: PAYEE, ...times },
  }
  const asks = [{ bearer: agent.apiKey }, await signedBy(agent.owner, 'session')]
  for (const ask of asks) {
    const { status, body } = await market.client().get(pathOf(agent.id), ask)
    expect(status).toBe(200)
    expect(body.data).toEqual([newest, oldest])
    expect(body.next_cursor).toBeNull()
  }
  const first = await market.client().get(pathOf(agent.id, '?limit=1'), { bearer: agent.apiKey })
  expect(first.body.data).toEqual([newest])
  const rest = pathOf(agent.id, `?limit=1&cursor=${first.body.next_cursor}`)
  const second = await market.client().get(rest, { bearer: agent.apiKey })
  expect(second.body).toMatchObject({ data: [oldest], next_cursor: null })
})

test('400: an invalid id, limit or cursor', async () => {
  const agent = await makeOwnedAgent(market)
  const ask = { bearer: agent.apiKey }
  invalid(await market.client().get(pathOf('agt_'), ask), 'agent_id')
  for (const limit of ['0', '101', 'x'])
    invalid(await market.client().get(pathOf(agent.id, `?limit=${limit}`), ask), 'limit')
  invalid(await market.client().get(pathOf(agent.id, '?cursor=nonsense'), ask), 'cursor')
})

test('403: another agent, another owner, and an admin key', async () => {
  const [agent, other] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const { token } = await makeUser(market)
  for (const bearer of [other.apiKey, token])
    rejected(await market.client().get(pathOf(agent.id), { bearer }), 403, 'not_your_agent')
  rejected(await market.client().get(pathOf(agent.id), { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('404: an agent that does not exist; 403 for one without an owner', async () => {
  const { token } = await makeUser(market)
  const { id } = await makeAgent(market)
  rejected(await market.client().get(pathOf(id), { bearer: token }), 403, 'not_your_agent')
  rejected(await market.client().get(pathOf(NO_AGENT), { bearer: token }), 404, 'agent_not_found')
})
