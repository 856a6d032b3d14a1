import { operations } from '@market/contract/operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import {
  FEES,
  type FeeMarket,
  makeFee,
  makeTokenAgent,
  solOf,
  startFeeMarket,
  type TokenAgent,
} from '../support/creator-fees.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { loginBefore } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const NONE = { count: 0, amount_sol: 0, agent_sol: 0, partner_sol: 0, buyback_sol: 0 }

let fees: FeeMarket
beforeAll(async () => {
  fees = await startFeeMarket()
})
afterAll(() => fees.market.stop())

const subject: Subject = {
  market: () => fees.market,
  operation: operations.listCreatorFees,
  good: async () => ({ path: FEES, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, FEES)

const get = (query = '', bearer = ADMIN_KEY) => fees.market.client().get(`${FEES}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body

/** Recorded with the API, and paid on chain. */
async function recordPaid({ id: agentId, mint }: TokenAgent, amounts: readonly bigint[]) {
  const sources = await fees.payFees(mint, ...amounts)
  const recorded = []
  for (const [n, source_tx] of sources.entries()) {
    const amount_sol = solOf(amounts[n] ?? 0n)
    recorded.push((await fees.record({ agent_id: agentId, amount_sol, source_tx })).body.data)
  }
  return recorded
}

test('200: recorded and settled fees, newest first, with totals per status', async () => {
  const totals = { accrued: NONE, settled: NONE }
  expect(await read()).toEqual({ success: true, data: [], totals, next_cursor: null })
  const seller = await makeTokenAgent(fees.market)
  const other = await makeTokenAgent(fees.market, 'pumpfun')
  const [first, second] = await recordPaid(seller, [10_000_000n, 20_000_000n])
  const [ofOther] = await recordPaid(other, [5_000_000n])
  const [settleTx = ''] = await fees.pay(seller.wallet, 6_500_000n)
  const settled = (await fees.settle(first.id, settleTx)).body.data

  const accruedOfSeller = {
    count: 1,
    amount_sol: 0.02,
    agent_sol: 0.013,
    partner_sol: 0.004666,
    buyback_sol: 0.002334,
  }
  const settledTotal = {
    count: 1,
    amount_sol: 0.01,
    agent_sol: 0.0065,
    partner_sol: 0.002333,
    buyback_sol: 0.001167,
  }
  const all = {
    accrued: { count: 2, amount_sol: 0.025, agent_sol: 0.0175, partner_sol: 0.004666, buyback_sol: 0.002834 },
    settled: settledTotal,
  }
  const ofSeller = { accrued: accruedOfSeller, settled: settledTotal }
  const page = (data: readonly unknown[], sums: object) => ({
    success: true,
    data,
    totals: sums,
    next_cursor: null,
  })
  expect(await read()).toEqual(page([ofOther, second, settled], all))
  expect(await read(`?agent_id=${seller.id}`)).toEqual(page([second, settled], ofSeller))
  expect(await read('?status=accrued')).toEqual(page([ofOther, second], all))
  expect(await read('?status=settled')).toEqual(page([settled], all))
  expect(await read(`?agent_id=${seller.id}&status=settled`)).toEqual(page([settled], ofSeller))
  expect(await read(`?agent_id=${other.id}&status=settled`)).toMatchObject({ data: [], next_cursor: null })
  expect(await read('?agent_id=agt_1_unknown')).toEqual(page([], totals))
})

test('200: pages contain every fee once, also fees with the same time', async () => {
  const seller = await makeTokenAgent(fees.market)
  const made = []
  for (let n = 0; n < 4; n++) made.push((await makeFee(fees.market, seller)).id)
  await fees.market.db
    .updateTable('creator_fees')
    .set({ status: 'settled', payment_tx: '1'.repeat(64), paid_by: 'user:x', paid_at: new Date() })
    .where('id', '=', made[0] ?? '')
    .execute()
  const all = (await read()).data.map(({ id }: { id: string }) => id)
  expect(all).toEqual(expect.arrayContaining(made))
  expect(await walkPages(read, 'id')).toEqual(all)
  const accrued = (await read('?status=accrued')).data.map(({ id }: { id: string }) => id)
  const filtered = (query: string) => read(`${query}&status=accrued`)
  expect(await walkPages(filtered, 'id')).toEqual(accrued)
})

test('400: a limit out of bounds, an invalid cursor, filter or query field', async () => {
  invalid(await get('?limit=101'), 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['creator-fees', 1, 'pay_1']),
    forgeCursor(['approvals', 1, 'apr_1']),
  ])
    invalid(await get(`?cursor=${cursor}`), 'cursor')
  invalid(await get('?status=paid'), 'status')
  invalid(await get('?agent_id=me'), 'agent_id')
  invalid(await get('?mint=x'), '')
})

test('200: also for an operator whose login is older than writes allow', async () => {
  expect((await get('', loginBefore(fees.market, 3_000))).status).toBe(200)
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(fees.market)
  const { apiKey } = await makeAgent(fees.market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
