import { brokenConstraint } from '@market/database/transact'
import { makeAgent } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { splitFees } from './split.ts'
import { findFee, insertFee, saveSettlement, sumFees } from './store.ts'

let database: TestDatabase
let ctx: MarketContext
beforeAll(async () => {
  database = await testDatabase()
  ctx = marketContext({ db: database.db })
})
afterAll(() => database.stop())

let transactions = 0
const someTx = (): string => {
  transactions += 1
  return `${transactions}`.padStart(64, 'x')
}

const feeOf = async (amount = 10_000n) => {
  const { agent } = await makeAgent(ctx)
  return {
    id: ctx.ids.next('cfe'),
    agentId: agent.id,
    mint: 'm'.repeat(44),
    mode: 'token2022' as const,
    amount,
    shares: splitFees(amount, 'token2022'),
    sourceTx: someTx(),
    recordedBy: 'user:operator',
    createdAt: ctx.clock.now(),
  }
}

const insert = (fee: Parameters<typeof insertFee>[1]) => ctx.transact((tx) => insertFee(tx, fee))
const settle = (id: `cfe_${string}`, tx = someTx()) =>
  ctx.transact(async (db) => {
    const settled = await saveSettlement(db, id, { tx, by: 'user:operator', at: ctx.clock.now() })
    if (settled === undefined) throw new Error('settle_tx is used')
    return settled
  })

/** The constraint that rejects the change. */
const constraintOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(() => 'none', brokenConstraint)

test('insertFee: stores one fee per transaction', async () => {
  const fee = await feeOf()
  expect(await insert(fee)).toBe(true)
  expect(await insert({ ...(await feeOf()), sourceTx: fee.sourceTx })).toBe(false)
  expect(await findFee(database.db, fee.id)).toEqual({ ...fee, settlement: null, reversal: null })
})

test('creator_fees: rejects shares that do not sum to the amount, and an amount of zero', async () => {
  const fee = await feeOf()
  for (const shares of [
    { ...fee.shares, agent: fee.shares.agent + 1n },
    { ...fee.shares, buyback: fee.shares.buyback - 1n },
  ])
    expect(await constraintOf(insert({ ...fee, shares }))).toBe('creator_fees_shares')
  expect(await constraintOf(insert(await feeOf(0n)))).toBe('creator_fees_amount_lamports_check')
})

test('creator_fees: a recorded fee only becomes settled, once', async () => {
  const fee = await feeOf()
  await insert(fee)
  const update = (change: string) =>
    constraintOf(sql`update creator_fees set ${sql.raw(change)} where id = ${fee.id}`.execute(database.db))
  for (const change of [
    `mode = 'pumpfun'`,
    `source_tx = '${'y'.repeat(64)}'`,
    'amount_lamports = 2, agent_lamports = 2, partner_lamports = 0, buyback_lamports = 0',
  ])
    expect([change, await update(change)]).toEqual([change, 'creator_fees_stays'])
  expect(await update(`status = 'settled'`)).toBe('creator_fees_paid')
  const { settlement } = await settle(fee.id)
  expect(await findFee(database.db, fee.id)).toEqual({ ...fee, settlement, reversal: null })
  for (const change of [
    `status = 'accrued', payment_tx = null, paid_by = null, paid_at = null`,
    `payment_tx = '${'y'.repeat(64)}'`,
  ])
    expect([change, await update(change)]).toEqual([change, 'creator_fees_transition'])
})

test('creator_fees: a fee begins as accrued', async () => {
  const fee = await feeOf()
  await insert(fee)
  const copy = sql`
    insert into creator_fees select (jsonb_populate_record(creator_fees, ${JSON.stringify({
      id: ctx.ids.next('cfe'),
      source_tx: someTx(),
      status: 'settled',
      payment_tx: someTx(),
      paid_by: 'user:operator',
      paid_at: ctx.clock.now(),
    })}::jsonb)).* from creator_fees where id = ${fee.id}`
  expect(await constraintOf(copy.execute(database.db))).toBe('creator_fees_transition')
})

test('saveSettlement: returns undefined for a transaction that settled another fee', async () => {
  const [one, other] = [await feeOf(), await feeOf()]
  await insert(one)
  await insert(other)
  const { settlement } = await settle(one.id)
  await expect(settle(other.id, settlement?.tx)).rejects.toThrow('settle_tx is used')
  expect((await findFee(database.db, other.id))?.settlement).toBeNull()
})

test('sumFees: the totals of an agent are exact above 2^53 lamports', async () => {
  const fee = await feeOf(2n ** 53n + 1n)
  await insert(fee)
  await insert({ ...(await feeOf()), agentId: fee.agentId, amount: 2n, shares: splitFees(2n, 'token2022') })
  const { accrued, settled } = await sumFees(database.db, fee.agentId)
  expect(accrued).toMatchObject({ count: 2, amount: 2n ** 53n + 3n })
  expect(settled.count).toBe(0)
})
