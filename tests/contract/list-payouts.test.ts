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
import { BLOCKED, makeFailed, makePayout, someHash, walkPages } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/admin/payouts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const subject: Subject = {
  market: () => market,
  operation: operations.listPayouts,
  good: async () => ({ path: PATH, ask: { bearer: ADMIN_KEY } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

const get = (query = '', bearer = ADMIN_KEY) => market.client().get(`${PATH}${query}`, { bearer })
const read = async (query = '') => (await get(query)).body
const daysAgo = (days: number) => new Date(market.now() - days * 86_400_000)

type Change = Partial<{
  state: string
  reason: string
  hold_code: string
  created_at: Date
  nonce: bigint
  final_reference: string
}>

const change = (id: string, to: Change) =>
  market.db.updateTable('payouts').set(to).where('id', '=', id).execute()

const idsOf = async (query = '') => (await read(query)).data.map(({ id }: { id: string }) => id)

test('200: failed and held payouts, oldest first; filters by state and network', async () => {
  expect(await read()).toEqual({ success: true, data: [], next_cursor: null })
  const db = market.db
  const failed = await makeFailed(db, { amount: 1_250_000n })
  const held = await makePayout(db, { network: 'alt-mainnet' })
  const queued = await makePayout(db)
  const signed = await makePayout(db)
  const homeless = await makeFailed(db, { payee: null })
  const over = await makePayout(db)
  await change(held.id, {
    state: 'held',
    hold_code: 'payouts_frozen',
    reason: 'Payouts are frozen',
    created_at: daysAgo(1),
  })
  await change(signed.id, { state: 'signed', nonce: 7n })
  await change(over.id, { state: 'final', final_reference: someHash() })
  const references = [someHash(), someHash()]
  for (const [n, reference] of references.entries())
    await db
      .insertInto('payout_signatures')
      .values({
        network: 'base-mainnet',
        reference,
        payout_id: signed.id,
        n: n + 1,
        bytes: '0x',
        nonce: 7n,
        created_at: new Date(),
      })
      .execute()

  const { data, next_cursor } = await read()
  expect(next_cursor).toBeNull()
  expect(data.map(({ id }: { id: string }) => id)).toEqual([held.id, failed.id, homeless.id])
  expect(data[1]).toEqual({
    id: failed.id,
    kind: 'payout',
    subject: failed.subject,
    network: 'base-mainnet',
    payee: failed.payee,
    amount_usd: '1.25',
    state: 'failed',
    hold_code: null,
    reason: BLOCKED,
    round: 1,
    created_at: failed.createdAt.toISOString(),
    updated_at: failed.updatedAt.toISOString(),
    tx_hash: null,
  })
  expect(data[2]).toMatchObject({
    payee: null,
    hold_code: 'no_address',
    reason: 'It has no address to be paid to',
  })

  expect(await idsOf('?network=alt-mainnet')).toEqual([held.id])
  expect(await idsOf('?state=failed')).toEqual([failed.id, homeless.id])
  expect(await idsOf('?state=queued,signed')).toEqual([queued.id, signed.id])
  expect((await read('?state=signed')).data).toMatchObject([{ id: signed.id, tx_hash: references[1] }])
  expect(await idsOf('?state=queued,held,nonce_assigned,signed,failed')).not.toContain(over.id)
})

test('200: pages contain every item once, also items with the same timestamp', async () => {
  const at = daysAgo(2)
  for (let n = 0; n < 3; n++) await change((await makeFailed(market.db)).id, { created_at: at })
  const all = await idsOf()
  expect(all.length).toBeGreaterThanOrEqual(3)
  expect(await walkPages(read, 'id')).toEqual(all)
})

test('400: a final or unknown state, an unknown network, an invalid limit or cursor', async () => {
  for (const state of ['final', 'withdrawn', 'failed,', 'everything'])
    invalid(await get(`?state=${state}`), 'state')
  invalid(await get('?network=base&limit=101'), 'network', 'limit')
  for (const cursor of [
    'x',
    forgeCursor(['payouts', 1, 'pay_0']),
    forgeCursor(['payouts', 1, `ord_${'0'.repeat(32)}`]),
  ])
    invalid(await get(`?cursor=${cursor}`), 'cursor')
  invalid(await get('?payee=me'), '')
})

test('200: also for an operator', async () => {
  expect((await get('', await operatorToken(market))).status).toBe(200)
})

test('403: a user who is not an operator, and an agent', async () => {
  const { token } = await makeUser(market)
  const { apiKey } = await makeAgent(market)
  for (const bearer of [token, apiKey]) rejected(await get('', bearer), 403, 'wrong_credential')
})
