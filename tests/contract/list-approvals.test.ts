import { operations } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { approveAs, loginBefore, proposeAs } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { CHECKSUMMED, makeFailed, walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/approvals'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listApprovals,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => market.client().get(`${PATH}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body

async function makeProposal() {
  const payload = { payout_id: (await makeFailed(market.db)).id, payee: CHECKSUMMED }
  return (await proposeAs(market, 'redirect_payout', payload)).body.data
}

test('200: those that can still be approved, newest first; with state=all also the others', async () => {
  expect(await read()).toEqual({ success: true, data: [], next_cursor: null })
  const old = await makeProposal()
  await market.advance(23 * HOUR)
  const approved = await makeProposal()
  await approveAs(market, approved.id)
  const young = await makeProposal()
  expect(await read()).toEqual({ success: true, data: [young, old], next_cursor: null })
  await market.advance(1 * HOUR)
  expect((await read()).data).toEqual([young])
  const states = (await read('?state=all')).data.map((one: Record<string, string>) => [
    one['id'],
    one['state'],
  ])
  expect(states).toEqual([
    [young.id, 'pending'],
    [approved.id, 'approved'],
    [old.id, 'expired'],
  ])
})

test('200: pages contain every approval once', async () => {
  const all = (await read('?state=all')).data.map(({ id }: { id: string }) => id)
  const pages = await walkPages((query) => read(`${query}&state=all`), 'id')
  expect(pages).toEqual(all)
})

test('200: a read needs no recent login', async () => {
  expect((await get('', loginBefore(market, 3_000))).status).toBe(200)
})

test('400: an unknown state, a limit out of bounds and an invalid cursor', async () => {
  invalid(await get('?state=open'), 'state')
  invalid(await get('?limit=101'), 'limit')
  invalid(await get('?cursor=x'), 'cursor')
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
