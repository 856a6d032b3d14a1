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
import { makeOutgoingTransfer, makePayout, NETWORK, someHash, walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/outgoing-transfers'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listUnexplained,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => market.client().get(`${PATH}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body
const daysAgo = (days: number) => new Date(market.now() - days * 86_400_000)

const settled = async (reference: string) => {
  const payout = await makePayout(market.db)
  await market.db
    .updateTable('payouts')
    .set({ state: 'final', final_reference: reference })
    .where('id', '=', payout.id)
    .execute()
  return payout.id
}

test('200: final outgoing transfers that settle no payout and are not written off, oldest first', async () => {
  expect(await read()).toEqual({ success: true, data: [], next_cursor: null })
  const [longAgo, lately] = [daysAgo(3), daysAgo(2)]
  const db = market.db
  const twice = someHash()
  const paid = await settled(twice)
  await makeOutgoingTransfer(db, { payoutId: paid, reference: twice })
  const again = await makeOutgoingTransfer(db, { payoutId: paid, at: lately })
  const strange = await makeOutgoingTransfer(db, { at: longAgo, amount: 1_500_000n })
  // The mark of a payout that this database does not have.
  const lost = await makeOutgoingTransfer(db, { payoutId: `pay_${'0'.repeat(32)}`, at: daysAgo(1) })
  await makeOutgoingTransfer(db, { isFinal: false })
  const booked = await makeOutgoingTransfer(db)
  await db
    .updateTable('outgoing_transfers')
    .set({ written_off_at: new Date() })
    .where('reference', '=', booked.reference)
    .execute()
  const body = await read()
  expect(body.data.map(({ reference }: { reference: string }) => reference)).toEqual([
    strange.reference,
    again.reference,
    lost.reference,
  ])
  expect(body.data[0]).toEqual({
    id: `${NETWORK}:${strange.reference}`,
    network: NETWORK,
    reference: strange.reference,
    payout_id: null,
    payee: strange.payee,
    amount_usd: '1.50',
    happened_at: longAgo.toISOString(),
  })
  expect(body.data[1]).toMatchObject({ payout_id: paid, happened_at: lately.toISOString() })
  expect(body.data[2]).toMatchObject({ payout_id: null })
  expect(body.next_cursor).toBeNull()
})

test('200: each payment of a transaction by itself, without those that made their payout final', async () => {
  const { db } = market
  const reference = someHash()
  const [paid, waiting] = [await settled(reference), await makePayout(db)]
  const at = daysAgo(1)
  for (const [index, payoutId] of [null, paid, waiting.id, null].entries())
    await makeOutgoingTransfer(db, { reference, index, payoutId, at, amount: BigInt(index + 1) * 1_000_000n })
  const { data } = await read('?limit=100')
  const listed = data.filter((one: { reference: string }) => one.reference === reference)
  expect(listed).toMatchObject([
    { id: `${NETWORK}:${reference}`, payout_id: null, amount_usd: '1.00' },
    { id: `${NETWORK}:${reference}.2`, payout_id: waiting.id, amount_usd: '3.00' },
    { id: `${NETWORK}:${reference}.3`, payout_id: null, amount_usd: '4.00' },
  ])
  expect(await walkPages(read, 'id')).toEqual(data.map(({ id }: { id: string }) => id))
})

test('200: pages contain every item once, also items with the same timestamp', async () => {
  const at = daysAgo(1)
  for (let n = 0; n < 3; n++) await makeOutgoingTransfer(market.db, { at })
  const all = (await read()).data.map(({ reference }: { reference: string }) => reference)
  expect(all.length).toBeGreaterThanOrEqual(3)
  expect(await walkPages(read, 'reference')).toEqual(all)
})

test('400: a limit out of bounds, an invalid cursor, an unknown query field', async () => {
  invalid(await get('?limit=101'), 'limit')
  for (const cursor of ['base-mainnet:0x', `suspense:base-mainnet:${'0'.repeat(66)}`]
    .map((name) => forgeCursor(['unexplained', 1, name]))
    .concat('x'))
    invalid(await get(`?cursor=${cursor}`), 'cursor')
  invalid(await get('?booked=true'), '')
})

test('200: also for an operator', async () => {
  expect((await get('', await operatorToken(market))).status).toBe(200)
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
