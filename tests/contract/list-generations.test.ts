import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import type { Subject } from '../support/valid-request.ts'
import { makeWorkspace } from '../support/workspace.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const pathOf = (orderId: string, query = '') => `/api/orders/${orderId}/deliverables${query}`

const subject: Subject = {
  market: () => market,
  operation: operations.listGenerations,
  good: async () => {
    const { id, agent } = await makeWorkspace(market)
    return { path: pathOf(id), ask: { bearer: agent.apiKey } }
  },
}
commonErrors(subject)
rejectsWithoutProvider(subject, pathOf(NO_ORDER))

test('200: pages, newest first, for both parties', async () => {
  const { id, agent, headers, generate } = await makeWorkspace(market)
  for (const prompt of ['one', 'two', 'three']) await generate({ prompt })
  const prompts = (data: { prompt: string }[]) => data.map(({ prompt }) => prompt)
  const first = await market.client().get(pathOf(id, '?limit=2'), { headers })
  expect(prompts(first.body.data)).toEqual(['three', 'two'])
  const next = pathOf(id, `?limit=2&cursor=${first.body.next_cursor}`)
  const second = await market.client().get(next, { bearer: agent.apiKey })
  expect([prompts(second.body.data), second.body.next_cursor]).toEqual([['one'], null])
})

test('400: a limit out of range, and a forged cursor', async () => {
  const { id, headers } = await makeWorkspace(market)
  invalid(await market.client().get(pathOf(id, '?limit=101'), { headers }), 'limit')
  invalid(
    await market.client().get(pathOf(id, `?cursor=${forgeCursor('deliverables')}`), { headers }),
    'cursor',
  )
})

test('403: a cross-site request with a cookie', async () => {
  const { id } = await makeWorkspace(market)
  const cookie = `idp-token=${(await makeUser(market)).token}`
  const headers = { cookie, 'sec-fetch-site': 'cross-site' }
  rejected(await market.client().get(pathOf(id), { headers }), 403, 'cross_site')
})

test('404: an order of others, and one that does not exist', async () => {
  const { id } = await makeWorkspace(market)
  const other = { bearer: (await makeOwnedAgent(market)).apiKey }
  for (const order of [id, NO_ORDER])
    rejected(await market.client().get(pathOf(order), other), 404, 'order_not_found')
})
