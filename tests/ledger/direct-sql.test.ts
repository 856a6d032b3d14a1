import { balanceOf, escrow, world } from '@market/money/ledger'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { BASE, faultsOf, paid, postNow, someSubject } from './books.ts'
import { type ByHand, byHand, someJournalId, writeAccount, writeJournal, writeMove } from './by-hand.ts'

const OUTSIDE = `world:${BASE}:0`
const ABROAD = 'world:alt-mainnet:0'
const BELONG = { constraint: 'ledger_moves_belong' }
const COMPLETE = { constraint: 'ledger_journals_complete' }
const BALANCED = { constraint: 'ledger_journals_balanced' }

let hand: ByHand
let order: string
let old: string
let pot: string
let id: string
let before: unknown
beforeAll(async () => {
  hand = await byHand()
  await hand.attempt(writeAccount(OUTSIDE), writeAccount(ABROAD))
})
afterAll(() => hand.stop())

beforeEach(async () => {
  order = someSubject()
  pot = `escrow:${BASE}:${order}`
  id = someJournalId()
  old = (await postNow(hand.ctx, paid(order, 100n))).journalId
  before = await hand.books()
})
afterEach(async () => {
  expect(await hand.books()).toEqual(before)
  expect(await faultsOf(hand.ctx.db)).toEqual([])
})

const rejected = (...statements: string[]) => expect(hand.attempt(...statements)).rejects

test('a journal that does not sum to zero fails at the commit', async () => {
  const moves = [writeMove(id, 1, OUTSIDE, -100n), writeMove(id, 2, pot, 101n)]
  await rejected(writeJournal(id), ...moves).toMatchObject(BALANCED)
})

test('no sum is made over two assets: an account holds one', async () => {
  const moves = [writeMove(id, 1, OUTSIDE, -5n), writeMove(id, 2, pot, 5n, { asset: 'EURC' })]
  await rejected(writeJournal(id), ...moves).toMatchObject(BELONG)
})

test('a journal without moves, with one, or with fewer than it said, fails at the commit', async () => {
  await rejected(writeJournal(id)).toMatchObject(COMPLETE)
  await rejected(writeJournal(id), writeMove(id, 1, pot, 5n)).toMatchObject(COMPLETE)
  const two = [writeMove(id, 1, OUTSIDE, -5n), writeMove(id, 3, pot, 5n)]
  await rejected(writeJournal(id, { count: 3 }), ...two).toMatchObject(COMPLETE)
  await rejected(writeJournal(id, { count: 1 })).toMatchObject({ code: '23514' })
})

test('a journal checked before its commit takes nothing after', async () => {
  const check = 'set constraints all immediate'
  await rejected(writeJournal(id), check).toMatchObject(COMPLETE)
  const whole = [writeJournal(id), writeMove(id, 1, OUTSIDE, -5n), writeMove(id, 2, pot, 5n)]
  await rejected(...whole, check, writeMove(id, 3, pot, 5n)).toMatchObject(BELONG)
})

test('an old journal takes no further move, whatever number or time it is given', async () => {
  for (const n of [1, 2]) await rejected(writeMove(old, n, pot, 5n)).toMatchObject({ code: '23505' })
  for (const n of [-1, 0, 3]) await rejected(writeMove(old, n, pot, 5n)).toMatchObject(BELONG)
  // The primary key holds the time, so a taken number is free at another; but no other is the journal's.
  await rejected(writeMove(old, 1, pot, 5n, { at: '2026-02-01T00:00:00Z' })).toMatchObject(BELONG)
})

test('a move straight into a partition is held to the same rules', async () => {
  const straight = { at: '2033-01-01T00:00:00Z', table: 'ledger_moves_other' }
  await rejected(writeMove(old, 1, pot, 5n, straight)).toMatchObject(BELONG)
  const moves = [writeMove(id, 1, OUTSIDE, -5n, straight), writeMove(id, 2, pot, 6n, straight)]
  await rejected(writeJournal(id, straight), ...moves).toMatchObject(BALANCED)
})

test('a move needs a journal, an account, and their network', async () => {
  const abroad = { network: 'alt-mainnet' } as const
  await rejected(writeMove(id, 1, pot, 5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, `escrow:${BASE}:nobody`, 5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, pot, 5n, abroad)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, ABROAD, -5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, ABROAD, -5n, abroad)).toMatchObject(BELONG)
})

test('a move of nothing is none', async () => {
  await rejected(writeJournal(id), writeMove(id, 1, pot, 0n)).toMatchObject({ code: '23514' })
})

test('no journal takes from an escrow what it does not hold, nor passes the largest number there is', async () => {
  const overdrawn = { constraint: 'ledger_accounts_not_overdrawn' }
  await rejected(writeJournal(id), writeMove(id, 1, pot, -101n)).toMatchObject(overdrawn)
  const vast = writeMove(id, 1, pot, 2n ** 63n - 1n)
  await rejected(writeJournal(id), vast).toMatchObject({ code: '22003' })
})

test('one key is one journal', async () => {
  const twin = writeJournal(someJournalId(), { key: `order.paid:${order}` })
  await rejected(twin).toMatchObject({ constraint: 'ledger_journals_key' })
})

test('the same statements, when they are right, post', async () => {
  const outside = await balanceOf(hand.ctx.db, world(BASE))
  await hand.attempt(writeJournal(id), writeMove(id, 1, OUTSIDE, -5n), writeMove(id, 2, pot, 5n))
  expect(await balanceOf(hand.ctx.db, escrow(BASE, order))).toBe(105n)
  expect(await balanceOf(hand.ctx.db, world(BASE))).toBe(outside - 5n)
  before = await hand.books()
})
