import { balanceOf, escrow, world } from '@market/money/ledger'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { BASE, ledgerFaults, paid, postNow, someSubject } from './ledger-fixtures.ts'
import { openRawSql, type RawSql, someJournalId, writeAccount, writeJournal, writeMove } from './raw-sql.ts'

const WORLD = `world:${BASE}:0`
const OTHER_NETWORK = 'world:alt-mainnet:0'
const BELONG = { constraint: 'ledger_moves_belong' }
const COMPLETE = { constraint: 'ledger_journals_complete' }
const BALANCED = { constraint: 'ledger_journals_balanced' }

let raw: RawSql
let order: string
let old: string
let escrowId: string
let id: string
let before: unknown
beforeAll(async () => {
  raw = await openRawSql()
  await raw.attempt(writeAccount(WORLD), writeAccount(OTHER_NETWORK))
})
afterAll(() => raw.stop())

beforeEach(async () => {
  order = someSubject()
  escrowId = `escrow:${BASE}:${order}`
  id = someJournalId()
  old = (await postNow(raw.ctx, paid(order, 100n))).journalId
  before = await raw.snapshot()
})
afterEach(async () => {
  expect(await raw.snapshot()).toEqual(before)
  expect(await ledgerFaults(raw.ctx.db)).toEqual([])
})

const rejected = (...statements: string[]) => expect(raw.attempt(...statements)).rejects

test('a journal whose moves do not sum to zero fails at commit', async () => {
  const moves = [writeMove(id, 1, WORLD, -100n), writeMove(id, 2, escrowId, 101n)]
  await rejected(writeJournal(id), ...moves).toMatchObject(BALANCED)
})

test('a move of another asset is rejected', async () => {
  const moves = [writeMove(id, 1, WORLD, -5n), writeMove(id, 2, escrowId, 5n, { asset: 'EURC' })]
  await rejected(writeJournal(id), ...moves).toMatchObject(BELONG)
})

test('a journal with no moves, one move or fewer than move_count fails at commit', async () => {
  await rejected(writeJournal(id)).toMatchObject(COMPLETE)
  await rejected(writeJournal(id), writeMove(id, 1, escrowId, 5n)).toMatchObject(COMPLETE)
  const two = [writeMove(id, 1, WORLD, -5n), writeMove(id, 3, escrowId, 5n)]
  await rejected(writeJournal(id, { count: 3 }), ...two).toMatchObject(COMPLETE)
  await rejected(writeJournal(id, { count: 1 })).toMatchObject({ code: '23514' })
})

test('a journal that was checked before commit accepts no more moves', async () => {
  const check = 'set constraints all immediate'
  await rejected(writeJournal(id), check).toMatchObject(COMPLETE)
  const whole = [writeJournal(id), writeMove(id, 1, WORLD, -5n), writeMove(id, 2, escrowId, 5n)]
  await rejected(...whole, check, writeMove(id, 3, escrowId, 5n)).toMatchObject(BELONG)
})

test('a committed journal accepts no more moves, with any number or time', async () => {
  for (const n of [1, 2]) await rejected(writeMove(old, n, escrowId, 5n)).toMatchObject({ code: '23505' })
  for (const n of [-1, 0, 3]) await rejected(writeMove(old, n, escrowId, 5n)).toMatchObject(BELONG)
  // The primary key contains the time, so the number is free at another time; the time must be the journal's.
  await rejected(writeMove(old, 1, escrowId, 5n, { at: '2026-02-01T00:00:00Z' })).toMatchObject(BELONG)
})

test('a move inserted into a partition directly is checked by the same rules', async () => {
  const straight = { at: '2033-01-01T00:00:00Z', table: 'ledger_moves_other' }
  await rejected(writeMove(old, 1, escrowId, 5n, straight)).toMatchObject(BELONG)
  const moves = [writeMove(id, 1, WORLD, -5n, straight), writeMove(id, 2, escrowId, 6n, straight)]
  await rejected(writeJournal(id, straight), ...moves).toMatchObject(BALANCED)
})

test('a move needs an existing journal and account on the same network', async () => {
  const otherNetwork = { network: 'alt-mainnet' } as const
  await rejected(writeMove(id, 1, escrowId, 5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, `escrow:${BASE}:nobody`, 5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, escrowId, 5n, otherNetwork)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, OTHER_NETWORK, -5n)).toMatchObject(BELONG)
  await rejected(writeJournal(id), writeMove(id, 1, OTHER_NETWORK, -5n, otherNetwork)).toMatchObject(BELONG)
})

test('a move of zero is rejected', async () => {
  await rejected(writeJournal(id), writeMove(id, 1, escrowId, 0n)).toMatchObject({ code: '23514' })
})

test('overdrawing an escrow account and overflowing a balance are rejected', async () => {
  const overdrawn = { constraint: 'ledger_accounts_not_overdrawn' }
  await rejected(writeJournal(id), writeMove(id, 1, escrowId, -101n)).toMatchObject(overdrawn)
  const vast = writeMove(id, 1, escrowId, 2n ** 63n - 1n)
  await rejected(writeJournal(id), vast).toMatchObject({ code: '22003' })
})

test('a second journal with the same key is rejected', async () => {
  const twin = writeJournal(someJournalId(), { key: `order.paid:${order}` })
  await rejected(twin).toMatchObject({ constraint: 'ledger_journals_key' })
})

test('valid statements are accepted', async () => {
  const outside = await balanceOf(raw.ctx.db, world(BASE))
  await raw.attempt(writeJournal(id), writeMove(id, 1, WORLD, -5n), writeMove(id, 2, escrowId, 5n))
  expect(await balanceOf(raw.ctx.db, escrow(BASE, order))).toBe(105n)
  expect(await balanceOf(raw.ctx.db, world(BASE))).toBe(outside - 5n)
  before = await raw.snapshot()
})
