import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { NO_ORDER } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { makeWeekly, openPurchasedWorkspace } from '../support/workspace.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

async function bought() {
  const agent = await makeOwnedAgent(market)
  const { id, accessToken } = await openPurchasedWorkspace(market, await makeWeekly(market, agent))
  return { id, accessToken, path: `/api/x402/orders/${id}/deliverables?t=${accessToken}` }
}

commonErrors({
  market: () => market,
  operation: operations.listPurchasedGenerations,
  good: bought,
})

test('200: pages, newest first, with the access token alone', async () => {
  const { id, accessToken, path } = await bought()
  for (const prompt of ['one', 'two', 'three'])
    await market.client().post(`/api/x402/orders/${id}/generate`, { t: accessToken, prompt })
  const prompts = (data: { prompt: string }[]) => data.map(({ prompt }) => prompt)
  const first = await market.client().get(`${path}&limit=2`)
  expect([first.status, prompts(first.body.data)]).toEqual([200, ['three', 'two']])
  const second = await market.client().get(`${path}&limit=2&cursor=${first.body.next_cursor}`)
  expect([prompts(second.body.data), second.body.next_cursor]).toEqual([['one'], null])
})

test('400: no access token, a limit out of range, and a forged cursor', async () => {
  const { id, path } = await bought()
  invalid(await market.client().get(`/api/x402/orders/${id}/deliverables`), 't')
  invalid(await market.client().get(`${path}&limit=101`), 'limit')
  invalid(await market.client().get(`${path}&cursor=${forgeCursor('deliverables')}`), 'cursor')
})

test('404: the token of another order, and an order that does not exist', async () => {
  const [one, other] = [await bought(), await bought()]
  for (const id of [one.id, NO_ORDER])
    rejected(
      await market.client().get(`/api/x402/orders/${id}/deliverables?t=${other.accessToken}`),
      404,
      'order_not_found',
    )
})
