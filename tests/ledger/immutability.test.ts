import { balanceOf, escrow, maintainLedgerPartitions } from '@market/money/ledger'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BASE, ledgerFaults, paid, postNow, someSubject } from './ledger-fixtures.ts'
import { AT, openRawSql, type RawSql, writeAccount, writeMove } from './raw-sql.ts'

const REJECTED = { code: '23001' }
const PARTITIONS = ['ledger_moves', 'ledger_moves_other', 'ledger_moves_202601']

let raw: RawSql
let old: string
let before: unknown
beforeAll(async () => {
  raw = await openRawSql()
  await raw.read(`select make_month('ledger_moves', '2026-01-01')`)
  await postAt('2030-05-05T00:00:00Z')
})
afterAll(() => raw.stop())

beforeEach(async () => {
  old = (await postAt(AT)).journalId
  before = await raw.snapshot()
})
afterEach(async () => {
  expect(await raw.snapshot()).toEqual(before)
  expect(await ledgerFaults(raw.ctx.db)).toEqual([])
})

async function postAt(at: string, subject = someSubject()) {
  raw.ctx.clock.set(new Date(at))
  return postNow(raw.ctx, paid(subject, 100n))
}

describe('posted journals cannot be changed', () => {
  test.each(PARTITIONS)('update, delete and truncate of %s are rejected', async (table) => {
    expect((await raw.read(`select from ${table}`)).length).toBeGreaterThan(0)
    for (const text of [
      `update ${table} set amount_micros = amount_micros * 2`,
      `update ${table} set at = at + interval '1 day'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `truncate ${table} cascade`,
    ])
      await expect(raw.attempt(text), text).rejects.toMatchObject(REJECTED)
  })

  test.each([
    `update ledger_journals set reason = 'other'`,
    'delete from ledger_journals',
    'truncate ledger_journals',
    'truncate ledger_journals, ledger_moves, ledger_accounts',
    'delete from ledger_accounts',
    'truncate ledger_accounts',
  ])('%s is rejected', async (text) => {
    await expect(raw.attempt(text)).rejects.toMatchObject(REJECTED)
  })

  test('a partition that is created later is protected too, and balances stay the same', async () => {
    const late = someSubject()
    await postAt('2031-03-03T00:00:00Z', late)
    before = await raw.snapshot()
    await maintainLedgerPartitions(raw.ctx)
    expect(await raw.read('select amount_micros from ledger_moves_203103')).toHaveLength(2)
    expect(await balanceOf(raw.ctx.db, escrow(BASE, late))).toBe(100n)
    for (const table of ['ledger_moves_203103', 'ledger_moves_other'])
      for (const verb of ['delete from', 'truncate'])
        await expect(raw.attempt(`${verb} ${table}`)).rejects.toMatchObject(REJECTED)
  })
})

describe('balances change only by moves', () => {
  const columns = 'id, kind, network, subject, may_be_negative, created_at, updated_at'
  test.each([
    'update ledger_accounts set balance_micros = balance_micros + 1',
    `update ledger_accounts set may_be_negative = true, kind = 'world'`,
    `update ledger_accounts set network = 'alt-mainnet'`,
    `insert into ledger_accounts (${columns}) select ${columns} from ledger_accounts
       on conflict (id) do update set balance_micros = 1`,
    `merge into ledger_accounts using (select) one on true when matched then update set balance_micros = 1`,
  ])('%s is rejected', async (text) => {
    await expect(raw.attempt(text)).rejects.toMatchObject(REJECTED)
  })

  test('a new account with a balance is rejected', async () => {
    const rich = writeAccount('world:alt-mainnet:0', { balance: 5 })
    await expect(raw.attempt(rich)).rejects.toMatchObject(REJECTED)
  })

  test('an account whose id does not fit its kind, or that may be negative, is rejected', async () => {
    const id = `escrow:${BASE}:x`
    const make = (as: Parameters<typeof writeAccount>[1]) => raw.attempt(writeAccount(id, as))
    await expect(make({ mayBeNegative: true })).rejects.toMatchObject({ constraint: 'ledger_accounts_sign' })
    await expect(make({ kind: 'fees' })).rejects.toMatchObject({ constraint: 'ledger_accounts_id' })
    await expect(make({ kind: 'gift' })).rejects.toMatchObject({ code: '23514' })
  })

  test('a move skipped by `on conflict do nothing` changes no balance', async () => {
    const [taken] = await raw.read(
      `select account_id from ledger_moves where journal_id = '${old}' and n = 1`,
    )
    const again = writeMove(old, 1, String(taken?.['account_id']), 100n)
    await raw.attempt(`${again} on conflict do nothing`)
  })
})
