import { operations } from '@market/contract/operations'
import { evmSigner } from '@market/testing/evm-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestOptions } from '../support/client.ts'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { agentOf, makeOrder, orderAgain, orderOf } from '../support/orders.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/orders'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const list = (ask: RequestOptions, query = '') => market.client().get(`${PATH}${query}`, ask)
const idsOf = (orders: readonly { id: string }[]) => orders.map(({ id }) => id)

const subject: Subject = {
  market: () => market,
  operation: operations.listOrders,
  good: async () => ({ path: PATH, ask: { bearer: (await makeOwnedAgent(market)).apiKey } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

test('200: only the orders of the caller, with all fields', async () => {
  const mine = await makeOrder(market)
  await makeOrder(market)
  const { status, body } = await list({ bearer: mine.buyer.apiKey })
  expect(status).toBe(200)
  const known = { id: mine.id, serviceId: mine.service.id, agentId: mine.seller.id }
  expect(body).toEqual({ success: true, data: [orderOf(known, agentOf(mine.seller))], next_cursor: null })
  expect((await list({ bearer: mine.seller.apiKey })).body.data).toEqual([])
})

test('200: the orders of a user and of each linked wallet, once and newest first', async () => {
  const { service } = await makeOrder(market)
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const proof = async (purpose = 'session') => ({ headers: await signOnce(market, wallet, purpose) })
  const byWallet = await orderAgain(market, service.id, await proof(`orders.create:${service.id}`))
  const byAccount = await orderAgain(market, service.id, { bearer: token })
  expect(idsOf((await list({ bearer: token })).body.data)).toEqual([byAccount, byWallet])
  expect(idsOf((await list(await proof())).body.data)).toEqual([byWallet])
})

test('200: only the orders with one of the statuses, of an account and of its wallets', async () => {
  const { service } = await makeOrder(market)
  const wallet = evmSigner()
  const { token } = await makeUser(market, { wallets: [wallet.address] })
  const ask = { headers: await signOnce(market, wallet, `orders.create:${service.id}`) }
  const byWallet = await orderAgain(market, service.id, ask)
  const byAccount = await orderAgain(market, service.id, { bearer: token })
  const cancelled = await market
    .client()
    .patch(`${PATH}/${byWallet}`, { action: 'cancel' }, { bearer: token })
  expect(cancelled.status).toBe(200)
  const of = async (status: string) => idsOf((await list({ bearer: token }, `?status=${status}`)).body.data)
  expect(await of('cancelled')).toEqual([byWallet])
  expect(await of('quoted')).toEqual([byAccount])
  expect(await of('quoted,cancelled')).toEqual([byAccount, byWallet])
  expect(await of('paid')).toEqual([])
})

test('200: only the orders that open a workspace, with one of the statuses', async () => {
  const { service, seller, buyer } = await makeOrder(market)
  const weekly = await makeService(market, seller, {
    price_type: 'weekly',
    price_usd: '5.00',
    quota_limit: 3,
  })
  const ask = { bearer: buyer.apiKey }
  const workspace = await orderAgain(market, weekly.id, ask)
  await orderAgain(market, service.id, ask)
  const of = async (query: string) => idsOf((await list(ask, query)).body.data)
  expect(await of('?workspaces=1')).toEqual([workspace])
  expect(await of('?workspaces=true&status=quoted')).toEqual([workspace])
  expect(await of('?workspaces=1&status=paid')).toEqual([])
  expect(await of('?workspaces=0')).toHaveLength(3)
})

test('200: each page continues after the previous one', async () => {
  const { service, buyer, id } = await makeOrder(market)
  const ask = { bearer: buyer.apiKey }
  const made = [id]
  for (let n = 0; n < 4; n++) made.unshift(await orderAgain(market, service.id, ask))
  const read: string[] = []
  let cursor: string | null | undefined
  do {
    const query = cursor ? `?limit=2&cursor=${cursor}` : '?limit=2'
    const { data, next_cursor } = (await list(ask, query)).body
    read.push(...idsOf(data))
    cursor = next_cursor
  } while (cursor)
  expect(read).toEqual(made)
})

test('400: an invalid limit, and an invalid cursor', async () => {
  const ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  for (const limit of ['0', '101', 'many']) invalid(await list(ask, `?limit=${limit}`), 'limit')
  for (const cursor of [
    '1',
    forgeCursor(['orders', 1, 'ord_1']),
    forgeCursor(['orders', 'x', `ord_1_${'0'.repeat(17)}`]),
    forgeCursor(['orders', 1, "' or 1=1"]),
    forgeCursor(['agent-orders', 1, `ord_1_${'0'.repeat(17)}`]),
  ])
    invalid(await list(ask, `?cursor=${cursor}`), 'cursor')
  for (const status of ['', 'sold', 'paid,', 'paid paid'])
    invalid(await list(ask, `?status=${encodeURIComponent(status)}`), 'status')
})

test('403: an admin key', async () => {
  rejected(await list({ bearer: ADMIN_KEY }), 403, 'wrong_credential')
})
