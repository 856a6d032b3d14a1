import { DAY, later, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteVoidPurchases } from './delete-void-purchases.ts'
import { findByRequestKey } from './payer-store.ts'
import type { PurchaseIn } from './purchase.ts'
import { claimPurchase, findPurchase, saveSent, saveVoid } from './store.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

const NETWORK = 'base-mainnet'
const PAYER = `0x${'ab'.repeat(20)}`
let made = 0

const newClaim = (proof = `${PAYER}:0x${String(made++).padStart(64, '0')}`): PurchaseIn<'claimed'> => ({
  ...{ id: ctx.ids.next('hir'), network: NETWORK, kind: 'authorization', proof, payer: PAYER },
  ...{ subject: 'registration', request: {}, fingerprint: Buffer.alloc(32), requestKey: null },
  ...{ binding: 'signed', due: usdc(1_000_000n), state: 'claimed' },
  ...{ leaseUntil: later(ctx.clock.now(), 30 * SECOND), createdAt: ctx.clock.now() },
})
const claim = (purchase: PurchaseIn<'claimed'>) => claimPurchase(ctx.db, purchase, ctx.clock.now())
const send = (purchase: PurchaseIn<'claimed'>) =>
  ctx.transact((tx) => saveSent(tx, purchase, `0x${String(made++).padStart(64, '0')}`, ctx.clock.now()))
const stateOf = async (purchase: PurchaseIn<'claimed'>) => (await findPurchase(ctx.db, purchase))?.state

test('claim: after its lease expired, the holder can store neither a settlement nor an outcome', async () => {
  const slow = newClaim()
  expect(await claim(slow)).toBeDefined()
  expect(await claim(newClaim(slow.proof))).toBeUndefined()
  ctx.clock.advance(31 * SECOND)
  const quick = { ...newClaim(slow.proof), id: slow.id }
  expect(await claim(quick)).toMatchObject({ id: slow.id, state: 'claimed' })
  expect(await send(slow)).toBe(false)
  await saveVoid(ctx.db, slow, 'was slow', ctx.clock.now())
  expect(await stateOf(quick)).toBe('claimed')
  expect(await send(quick)).toBe(true)
  await saveVoid(ctx.db, quick, 'was sent', ctx.clock.now())
  expect(await stateOf(quick)).toBe('sent')
})

test('claim: a lease of an earlier database epoch is free at once, and its holder can store nothing', async () => {
  const held = newClaim()
  await claim(held)
  await ctx.db
    .updateTable('purchases')
    .set({ database_epoch: 'an earlier one' })
    .where('proof', '=', held.proof)
    .execute()
  ctx.clock.advance(1)
  const next = { ...newClaim(held.proof), id: held.id }
  expect(await claim(next)).toMatchObject({ id: held.id, state: 'claimed' })
  expect(await send(held)).toBe(false)
  expect(await claim(newClaim(held.proof))).toBeUndefined()
  expect(await send(next)).toBe(true)
})

test('cleanup: deletes void and unfinished purchases after a week, and keeps sent ones', async () => {
  const [rejected, left, sent, fresh] = [newClaim(), newClaim(), newClaim(), newClaim()]
  for (const one of [rejected, left, sent]) await claim(one)
  await saveVoid(ctx.db, rejected, 'insufficient_funds', ctx.clock.now())
  await send(sent)
  ctx.clock.advance(6 * DAY)
  expect(await deleteVoidPurchases(ctx)).toBe(0)
  await claim(fresh)
  ctx.clock.advance(2 * DAY)
  expect(await deleteVoidPurchases(ctx)).toBe(2)
  const states = await Promise.all([rejected, left, sent, fresh].map(stateOf))
  expect(states).toEqual([undefined, undefined, 'sent', 'claimed'])
})

test('Idempotency-Key: finds only sent purchases that the wallet signed', async () => {
  const since = ctx.clock.now()
  const named = (fields: Partial<PurchaseIn<'claimed'>> = {}) => ({
    ...newClaim(),
    requestKey: 'word',
    ...fields,
  })
  const find = (asking: PurchaseIn<'claimed'>, from = since) => findByRequestKey(ctx.db, asking, from)
  const [claimed, stolen, rejected, bought] = [named(), named({ binding: 'none' }), named(), named()]
  for (const one of [claimed, stolen, rejected, bought]) await claim(one)
  await send(stolen)
  await saveVoid(ctx.db, rejected, 'insufficient_funds', ctx.clock.now())
  expect(await find(named())).toBeUndefined()

  await send(bought)
  expect(await find(named())).toMatchObject({ id: bought.id, state: 'sent' })
  expect(await find(bought)).toBeUndefined()
  expect(await find(named(), later(since, SECOND))).toBeUndefined()
  const others = [
    { requestKey: 'another' },
    { requestKey: null },
    { payer: `0x${'cd'.repeat(20)}` },
    { network: 'alt-mainnet' } as const,
  ]
  for (const other of others) expect(await find(named(other))).toBeUndefined()
})
