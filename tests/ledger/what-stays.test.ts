import { balanceOf, escrow, keepLedgerMonths } from '@market/money/ledger'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BASE, faultsOf, paid, postNow, someSubject } from './books.ts'
import { AT, type ByHand, byHand, writeAccount, writeMove } from './by-hand.ts'

const REFUSED = { code: '23001' }
const PARTITIONS = ['ledger_moves', 'ledger_moves_other', 'ledger_moves_202601']

let hand: ByHand
let old: string
let before: unknown
beforeAll(async () => {
  hand = await byHand()
  await hand.read(`select make_month('ledger_moves', '2026-01-01')`)
  await postAt('2030-05-05T00:00:00Z')
})
afterAll(() => hand.stop())

beforeEach(async () => {
  old = (await postAt(AT)).journalId
  before = await hand.books()
})
afterEach(async () => {
  expect(await hand.books()).toEqual(before)
  expect(await faultsOf(hand.ctx.db)).toEqual([])
})

async function postAt(at: string, subject = someSubject()) {
  hand.ctx.clock.set(new Date(at))
  return postNow(hand.ctx, paid(subject, 100n))
}

describe('what was posted stays', () => {
  test.each(PARTITIONS)('no move can be changed, taken away or swept out through %s', async (table) => {
    expect((await hand.read(`select from ${table}`)).length).toBeGreaterThan(0)
    for (const text of [
      `update ${table} set amount_micros = amount_micros * 2`,
      `update ${table} set at = at + interval '1 day'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `truncate ${table} cascade`,
    ])
      await expect(hand.attempt(text), text).rejects.toMatchObject(REFUSED)
  })

  test.each([
    `update ledger_journals set reason = 'other'`,
    'delete from ledger_journals',
    'truncate ledger_journals',
    'truncate ledger_journals, ledger_moves, ledger_accounts',
    'delete from ledger_accounts',
    'truncate ledger_accounts',
  ])('%s is rejected', async (text) => {
    await expect(hand.attempt(text)).rejects.toMatchObject(REFUSED)
  })

  test('a month that is made later guards what it took over, and moves no balance', async () => {
    const late = someSubject()
    await postAt('2031-03-03T00:00:00Z', late)
    before = await hand.books()
    await keepLedgerMonths(hand.ctx)
    expect(await hand.read('select amount_micros from ledger_moves_203103')).toHaveLength(2)
    expect(await balanceOf(hand.ctx.db, escrow(BASE, late))).toBe(100n)
    for (const table of ['ledger_moves_203103', 'ledger_moves_other'])
      for (const verb of ['delete from', 'truncate'])
        await expect(hand.attempt(`${verb} ${table}`)).rejects.toMatchObject(REFUSED)
  })
})

describe('balances follow moves and nothing else', () => {
  const columns = 'id, kind, network, subject, may_be_negative, created_at, updated_at'
  test.each([
    'update ledger_accounts set balance_micros = balance_micros + 1',
    `update ledger_accounts set may_be_negative = true, kind = 'world'`,
    `update ledger_accounts set network = 'alt-mainnet'`,
    `insert into ledger_accounts (${columns}) select ${columns} from ledger_accounts
       on conflict (id) do update set balance_micros = 1`,
    `merge into ledger_accounts using (select) one on true when matched then update set balance_micros = 1`,
  ])('%s is rejected', async (text) => {
    await expect(hand.attempt(text)).rejects.toMatchObject(REFUSED)
  })

  test('no account begins with money in it', async () => {
    const rich = writeAccount('world:alt-mainnet:0', { balance: 5 })
    await expect(hand.attempt(rich)).rejects.toMatchObject(REFUSED)
  })

  test('an account is what its name says, and only the world may owe', async () => {
    const id = `escrow:${BASE}:x`
    const make = (as: Parameters<typeof writeAccount>[1]) => hand.attempt(writeAccount(id, as))
    await expect(make({ mayBeNegative: true })).rejects.toMatchObject({ constraint: 'ledger_accounts_sign' })
    await expect(make({ kind: 'fees' })).rejects.toMatchObject({ constraint: 'ledger_accounts_id' })
    await expect(make({ kind: 'gift' })).rejects.toMatchObject({ code: '23514' })
  })

  test('a move that a conflict left out moves no balance', async () => {
    const [taken] = await hand.read(
      `select account_id from ledger_moves where journal_id = '${old}' and n = 1`,
    )
    const again = writeMove(old, 1, String(taken?.['account_id']), 100n)
    await hand.attempt(`${again} on conflict do nothing`)
  })
})
