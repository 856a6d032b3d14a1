import { operations } from '@market/contract/operations'
import type { Payout } from '@market/money/payouts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { forgeCursor } from '../support/forge-cursor.ts'
import { makeAgent, makeUser } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { operatorToken } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import {
  BLOCKED,
  makeFailed,
  makeOutgoingTransfer,
  makePayout,
  someHash,
  walkPages,
} from '../support/treasury.ts'
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
  final_reference: string
}>

const change = (id: string, to: Change) =>
  market.db.updateTable('payouts').set(to).where('id', '=', id).execute()

/** Two signatures of a payout. Returns their references. */
async function makeSignatures({ id, network }: Payout): Promise<string[]> {
  const references = [someHash(), someHash()]
  for (const [n, reference] of references.entries())
    await market.db
      .insertInto('payout_signatures')
      .values({
        ...{ network, reference, payout_id: id, n: n + 1, bytes: '0x', is_dead: n === 0 },
        ...{ valid_to: 7n, created_at: new Date() },
      })
      .execute()
  return references
}

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
  await change(signed.id, { state: 'signed' })
  await change(over.id, { state: 'final', final_reference: someHash() })
  await makeSignatures(signed)

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
  expect(await idsOf('?state=signed')).toEqual([signed.id])
  expect(await idsOf('?state=queued,held,signed,failed')).not.toContain(over.id)
})

test('200: tx_hash on EVM is the transaction that the chain shows, on Solana also the one that was signed last', async () => {
  const db = market.db
  const txHashOf = async ({ id }: Payout) =>
    (await read('?state=signed&limit=100')).data.find((one: { id: string }) => one.id === id).tx_hash
  const [evm, solana] = [await makePayout(db), await makePayout(db, { network: 'solana-mainnet' })]
  for (const { id } of [evm, solana]) await change(id, { state: 'signed' })
  await makeSignatures(evm)
  expect(await txHashOf(evm)).toBeNull()
  expect(await txHashOf(solana)).toBeNull()
  const [, last] = await makeSignatures(solana)
  expect(await txHashOf(solana)).toBe(last)
  const reference = someHash()
  await makeOutgoingTransfer(db, { reference, isFinal: false })
  await makeOutgoingTransfer(db, { reference, index: 1, payoutId: evm.id, isFinal: false })
  expect(await txHashOf(evm)).toBe(reference)
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
