import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { makeClaimed, makeUnmatched, NETWORK, walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/unmatched-transfers'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listUnmatched,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => market.client().get(`${PATH}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body
const daysAgo = (days: number) => new Date(market.now() - days * 86_400_000)

test('200: unclaimed transfers and surplus, oldest first, with the payer if known', async () => {
  expect(await read()).toEqual({ success: true, data: [], next_cursor: null })
  const [longAgo, lately] = [daysAgo(3), daysAgo(2)]
  const young = await makeUnmatched(market.db, { at: lately, state: 'seen', payer: null })
  const old = await makeUnmatched(market.db, { at: longAgo, amount: 1n })
  const claimed = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_050_000n, beside: 70_000n })
  await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n })
  const unclaimed = { network: NETWORK, kind: 'suspense', state: 'final', purpose: null, claims: [] }
  const ofClaim = {
    network: NETWORK,
    reference: claimed.reference,
    state: 'final',
    purpose: claimed.purpose,
    claims: [],
    happened_at: claimed.at.toISOString(),
  }
  const idOf = (kind: string) => `${kind}:${NETWORK}:${claimed.reference}`
  expect(await read()).toEqual({
    success: true,
    next_cursor: null,
    data: [
      {
        ...unclaimed,
        id: `suspense:${NETWORK}:${old.reference}`,
        reference: old.reference,
        payer: old.payer,
        amount_usd: '0.000001',
        happened_at: longAgo.toISOString(),
      },
      {
        ...unclaimed,
        id: `suspense:${NETWORK}:${young.reference}`,
        reference: young.reference,
        payer: null,
        amount_usd: '5.00',
        state: 'seen',
        happened_at: lately.toISOString(),
      },
      { ...ofClaim, id: idOf('surplus'), kind: 'surplus', payer: claimed.payer, amount_usd: '0.05' },
      // Of others who paid in the same transaction: the claimer's wallet would be the wrong one.
      { ...ofClaim, id: idOf('suspense'), kind: 'suspense', payer: null, amount_usd: '0.07' },
    ],
  })
})

test('200: pages contain every item once, also items with the same timestamp', async () => {
  const at = daysAgo(1)
  for (let n = 0; n < 3; n++) await makeUnmatched(market.db, { at })
  const all = (await read()).data.map(({ reference }: { reference: string }) => reference)
  expect(all.length).toBeGreaterThanOrEqual(3)
  expect(await walkPages(read, 'reference')).toEqual(all)
})

test('400: a limit out of bounds, an invalid cursor, an unknown query field', async () => {
  invalid(await get('?limit=101'), 'limit')
  invalid(await get('?limit=0'), 'limit')
  for (const cursor of ['pay_0', `escrow:base-mainnet:${'0'.repeat(66)}`, '']
    .map((name) => forgeCursor(['unmatched', 1, name]))
    .concat('x'))
    invalid(await get(`?cursor=${cursor}`), 'cursor')
  invalid(await get('?kind=surplus'), '')
})

test('200: also for an operator', async () => {
  expect((await get('', await operatorToken(market))).status).toBe(200)
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
