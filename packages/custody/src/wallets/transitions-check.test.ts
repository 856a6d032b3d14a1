import { readMigrations } from '@market/database/migrations'
import { expect, test } from 'vitest'
import {
  hasEnded,
  nextStatus,
  TRANSITIONS,
  type WalletTransactionAction,
  type WalletTransactionStatus,
} from './states.ts'

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The first group of the pattern in the newest migration that has it. */
const inMigrations = (pattern: RegExp): string =>
  readMigrations()
    .map(({ sql }) => pattern.exec(sql)?.[1])
    .findLast((text) => text !== undefined) ?? ''

test('wallet_transactions_transition: the trigger allows exactly the changes of states.ts', () => {
  const allowed = inMigrations(
    /create (?:or replace )?function check_wallet_transaction\(\)[\s\S]*?old\.status <> new\.status and \(old\.status, new\.status\) not in \(([\s\S]*?)\n *\) then/,
  )
  const pairs = [...allowed.matchAll(/\('([^)]*)'\)/g)].map(([, pair]) =>
    (pair ?? '').split("', '").join(' '),
  )
  // The trigger compares only changes of the status.
  const expected = Object.entries(TRANSITIONS as Table).flatMap(([from, next]) =>
    Object.values(next).flatMap((to) => (to === from ? [] : [`${from} ${to}`])),
  )
  expect(pairs.toSorted()).toEqual([...new Set(expected)].toSorted())
  const statuses = inMigrations(
    /create table wallet_transactions \([\s\S]*?status text not null check \(status in \(([^)]*)\)/,
  )
  expect(statuses.replaceAll("'", '').split(', ').toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted())
})

const STATUSES = Object.keys(TRANSITIONS) as WalletTransactionStatus[]
const ACTIONS = [...new Set(Object.values(TRANSITIONS as Table).flatMap((next) => Object.keys(next)))]
const CELLS = STATUSES.flatMap((status) => ACTIONS.map((action) => [status, action] as const))

test.each(CELLS)('nextStatus: %s %s is what the table says, or a bug of the caller', (status, action) => {
  const to = (TRANSITIONS as Table)[status]?.[action]
  const next = () => nextStatus({ id: 'wop_1', status }, action as WalletTransactionAction)
  if (to === undefined) expect(next).toThrow(`wop_1 is ${status}: cannot ${action}`)
  else expect(next()).toBe(to)
})

test('hasEnded: an operation has ended exactly when no action is left', () => {
  for (const status of STATUSES)
    expect(hasEnded({ status })).toBe(Object.keys((TRANSITIONS as Table)[status] ?? {}).length === 0)
})
